select
  s.supplier_id,
  s.name as supplier,
  count(*) as receipts,
  sum(r.total_amount) as amount
from stock_receipts r
join suppliers s on s.supplier_id = r.supplier_id
where (:from is null or r.receipt_date >= :from)
  and (:to is null or r.receipt_date <= :to)
group by s.supplier_id, s.name
