-- The demo's inventory, as an application would have it. Rowgate reads names, types and keys from here at start.

CREATE TABLE categories (
  category_id TEXT         NOT NULL PRIMARY KEY,
  code        VARCHAR(20)  NOT NULL UNIQUE,
  name        VARCHAR(100) NOT NULL,
  description TEXT,
  created_at  TIMESTAMP    NOT NULL,
  created_by  VARCHAR(100) NOT NULL,
  updated_at  TIMESTAMP,
  updated_by  VARCHAR(100)
);

CREATE TABLE suppliers (
  supplier_id  TEXT         NOT NULL PRIMARY KEY,
  code         VARCHAR(20)  NOT NULL UNIQUE,
  name         VARCHAR(120) NOT NULL,
  contact_name VARCHAR(100),
  email        VARCHAR(120),
  phone        VARCHAR(30),
  city         VARCHAR(80)  NOT NULL,
  country      VARCHAR(60)  NOT NULL,
  payment_days INTEGER      NOT NULL DEFAULT 30,
  rating       DECIMAL(2,1),
  is_active    BOOLEAN      NOT NULL DEFAULT TRUE,
  created_at   TIMESTAMP    NOT NULL,
  created_by   VARCHAR(100) NOT NULL,
  updated_at   TIMESTAMP,
  updated_by   VARCHAR(100)
);
CREATE INDEX suppliers_by_city ON suppliers (city);

CREATE TABLE warehouses (
  warehouse_id TEXT         NOT NULL PRIMARY KEY,
  code         VARCHAR(20)  NOT NULL UNIQUE,
  name         VARCHAR(100) NOT NULL,
  city         VARCHAR(80)  NOT NULL,
  capacity_m3  INTEGER      NOT NULL,
  opened_on    DATE         NOT NULL,
  gate_opens   TIME,
  is_active    BOOLEAN      NOT NULL DEFAULT TRUE,
  created_at   TIMESTAMP    NOT NULL,
  created_by   VARCHAR(100) NOT NULL,
  updated_at   TIMESTAMP,
  updated_by   VARCHAR(100)
);

CREATE TABLE products (
  product_id    TEXT          NOT NULL PRIMARY KEY,
  sku           VARCHAR(20)   NOT NULL UNIQUE,
  name          VARCHAR(150)  NOT NULL,
  category_id   TEXT          NOT NULL REFERENCES categories (category_id),
  supplier_id   TEXT          NOT NULL REFERENCES suppliers (supplier_id),
  unit          VARCHAR(10)   NOT NULL DEFAULT 'pcs',
  price         DECIMAL(12,2) NOT NULL,
  cost          DECIMAL(12,2) NOT NULL,
  stock         INTEGER       NOT NULL DEFAULT 0,
  reorder_level INTEGER       NOT NULL DEFAULT 0,
  launched_on   DATE,
  is_active     BOOLEAN       NOT NULL DEFAULT TRUE,
  created_at    TIMESTAMP     NOT NULL,
  created_by    VARCHAR(100)  NOT NULL,
  updated_at    TIMESTAMP,
  updated_by    VARCHAR(100)
);
CREATE INDEX products_by_name ON products (name);
CREATE INDEX products_by_category ON products (category_id);
CREATE INDEX products_by_supplier ON products (supplier_id);

CREATE TABLE stock_receipts (
  receipt_id     TEXT          NOT NULL PRIMARY KEY,
  receipt_date   DATE          NOT NULL,
  receipt_number VARCHAR(20)   UNIQUE,
  supplier_id    TEXT          NOT NULL REFERENCES suppliers (supplier_id),
  warehouse_id   TEXT          NOT NULL REFERENCES warehouses (warehouse_id),
  status         VARCHAR(20)   NOT NULL DEFAULT 'draft'
                 CHECK (status IN ('draft', 'received', 'posted', 'cancelled')),
  remarks        TEXT,
  total_items    INTEGER       NOT NULL DEFAULT 0,
  total_qty      INTEGER       NOT NULL DEFAULT 0,
  total_amount   DECIMAL(14,2) NOT NULL DEFAULT 0,
  created_at     TIMESTAMP     NOT NULL,
  created_by     VARCHAR(100)  NOT NULL,
  updated_at     TIMESTAMP,
  updated_by     VARCHAR(100)
);
CREATE INDEX stock_receipts_by_date ON stock_receipts (receipt_date);
CREATE INDEX stock_receipts_by_supplier ON stock_receipts (supplier_id);
CREATE INDEX stock_receipts_by_warehouse ON stock_receipts (warehouse_id);

CREATE TABLE stock_receipt_lines (
  line_id      TEXT          NOT NULL PRIMARY KEY,
  receipt_id   TEXT          NOT NULL REFERENCES stock_receipts (receipt_id),
  line_number  INTEGER       NOT NULL,
  product_id   TEXT          NOT NULL REFERENCES products (product_id),
  qty_received INTEGER       NOT NULL CHECK (qty_received > 0),
  unit_price   DECIMAL(12,2) NOT NULL,
  amount       DECIMAL(14,2) NOT NULL,
  created_at   TIMESTAMP     NOT NULL,
  created_by   VARCHAR(100)  NOT NULL,
  updated_at   TIMESTAMP,
  updated_by   VARCHAR(100),
  UNIQUE (receipt_id, line_number)
);
CREATE INDEX stock_receipt_lines_by_product ON stock_receipt_lines (product_id);
