"""The export of bench/jobs.ts with XlsxWriter, its memory kept constant, and psycopg2. Arguments: the URL of the database, the file."""
import json, re, sys, time

import psycopg2, xlsxwriter

url, path = sys.argv[1:3]
names = "number created due name city note code price rate quantity active remark".split()
start = time.monotonic()
book = xlsxwriter.Workbook(path, {"constant_memory": True})
sheet = book.add_worksheet("Data")
day, minute, price = (book.add_format({"num_format": code}) for code in ("yyyy-mm-dd", "dd/mm/yyyy hh:mm", "#,##0.00"))
sheet.write_row(0, 0, names)
rows = 0
with psycopg2.connect(url) as connection, connection.cursor("export") as cursor:
    cursor.itersize = 500
    cursor.execute(f"select {', '.join(names)} from items order by number")
    for number, created, due, name, city, note, code, cost, rate, quantity, active, remark in cursor:
        rows += 1
        sheet.write_number(rows, 0, number)
        sheet.write_datetime(rows, 1, created, day)
        sheet.write_datetime(rows, 2, due, minute)
        for at, text in enumerate((name, city, note, code), 3):
            sheet.write_string(rows, at, text)
        sheet.write_number(rows, 7, cost, price)
        sheet.write_number(rows, 8, rate)
        sheet.write_number(rows, 9, quantity)
        sheet.write_boolean(rows, 10, active)
        if remark is not None:
            sheet.write_string(rows, 11, remark)
book.close()
seconds = time.monotonic() - start
with open("/proc/self/status") as status:
    peak = int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) / 1024
print(json.dumps({"rows": rows, "ms": seconds * 1000, "peakMiB": peak}))
