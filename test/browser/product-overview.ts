/** A view of the demo's products with the names of their categories and suppliers, from which tests read what to expect. */
export const productOverview = `CREATE VIEW product_overview AS
SELECT p.*, c.name AS category_name, s.name AS supplier_name
FROM products p
JOIN categories c ON c.category_id = p.category_id
JOIN suppliers s ON s.supplier_id = p.supplier_id`;
