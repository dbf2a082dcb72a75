"""The turn of XlsxWriter in bench/workbook.ts: the same rows as workbook-turn.ts, with its memory kept constant. Arguments: the file, the rows."""
import json, re, sys, time
from datetime import datetime, timedelta

import xlsxwriter

path, rows = sys.argv[1], int(sys.argv[2])
start = time.monotonic()
book = xlsxwriter.Workbook(path, {"constant_memory": True})
sheet = book.add_worksheet("Data")
day, minute, price = (book.add_format({"num_format": code}) for code in ("yyyy-mm-dd", "dd/mm/yyyy hh:mm", "#,##0.00"))
sheet.write_row(0, 0, "created due name city note code price rate quantity number active remark".split())
first = datetime(2024, 1, 15)
for at in range(rows):
    row = at + 1
    sheet.write_datetime(row, 0, first + timedelta(days=at % 3000), day)
    sheet.write_datetime(row, 1, first + timedelta(seconds=at), minute)
    sheet.write_string(row, 2, f"Customer {at}")
    sheet.write_string(row, 3, f"City {at % 500}")
    sheet.write_string(row, 4, f"Some note with the number {at * 7919 % 100003}")
    sheet.write_string(row, 5, f"C-{at:08d}")
    sheet.write_number(row, 6, at % 10000 / 100, price)
    sheet.write_number(row, 7, at % 997 / 1000)
    sheet.write_number(row, 8, at % 1000)
    sheet.write_number(row, 9, at)
    sheet.write_boolean(row, 10, at % 3 == 0)
    if at % 10 == 0:
        sheet.write_string(row, 11, f"Remark {at}")
book.close()
seconds = time.monotonic() - start
with open("/proc/self/status") as status:
    peak = int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) / 1024
print(json.dumps({"rows": rows, "ms": seconds * 1000, "peakMiB": peak}))
