-- The lines of one stock receipt, with what people call the product.
SELECT l.line_id,
       l.line_number,
       l.product_id,
       p.sku,
       p.name AS product_name,
       l.qty_received,
       l.unit_price,
       l.amount
FROM stock_receipt_lines l
JOIN products p ON p.product_id = l.product_id
WHERE l.receipt_id = :header_id
ORDER BY l.line_number;
