"""Writes three of the sample workbooks beside it: the same table by XlsxWriter, by openpyxl, and by LibreOffice (which converts the first).

    apt install python3-openpyxl python3-xlsxwriter libreoffice-calc-nogui
    python3 make.py && node make.ts

make.ts writes the fourth, by exceljs. The files are kept, so that the tests need none of these programs. test/workbook/samples.test.ts says
what each holds, test/contract/import-samples.test.ts imports them.
"""
import os, shutil, subprocess, tempfile
from datetime import date, datetime, time

import openpyxl
import xlsxwriter

here = os.path.dirname(os.path.abspath(__file__))
headings = ["name", "born", "seen_at", "opens", "price", "code", "stock", "active", "double", "note", "broken"]
rows = [
    ["Ann", date(1999, 12, 31), datetime(2024, 2, 29, 12, 34, 56), time(8, 30), 19.99, "007", 5, True, 10, "plain"],
    ["Bob & <Co>", date(1900, 3, 1), datetime(2038, 1, 19, 3, 14, 8), time(23, 59, 59), 0.1, "00", -3, False, -6, "two\nlines"],
    None,
    ["Zoë 😀", date(9999, 12, 31), datetime(1970, 1, 1), time(0, 0, 1), 123456789.012345, "1e5", 0, True, 0, "a bold end "],
]


def with_xlsxwriter(path):
    book = xlsxwriter.Workbook(path)
    hidden = book.add_worksheet("Hidden")
    hidden.write(0, 0, "not this one")
    sheet = book.add_worksheet("Things")
    sheet.activate()
    sheet.set_first_sheet()
    hidden.hide()
    bold = book.add_format({"bold": True})
    formats = {
        1: book.add_format({"num_format": "yyyy-mm-dd"}),
        2: book.add_format({"num_format": "dd/mm/yyyy hh:mm"}),
        3: book.add_format({"num_format": "hh:mm:ss"}),
        4: book.add_format({"num_format": "#,##0.00"}),
    }
    sheet.write_row(0, 0, headings, bold)
    for at, row in enumerate(rows):
        for column, value in enumerate(row or []):
            place, form = (at + 1, column), formats.get(column)
            if column in (1, 2, 3):
                sheet.write_datetime(*place, value, form)
            elif column == 8:
                sheet.write_formula(*place, f"=G{at + 2}*2", None, value)
            elif isinstance(value, str):
                sheet.write_string(*place, value)
            elif value is not None:
                sheet.write(*place, value, form)
    sheet.write_rich_string(4, 9, "a ", bold, "bold", " end ")
    sheet.write_formula(4, 10, "=1/0", None, "#DIV/0!")
    # Formatted, but empty.
    for at in range(5, 20):
        sheet.write_blank(at, 1, None, formats[1])
    book.close()


def with_openpyxl(path):
    book = openpyxl.Workbook()
    hidden = book.active
    hidden.title = "Hidden"
    hidden.append(["not this one"])
    sheet = book.create_sheet("Things")
    book.active = 1
    hidden.sheet_state = "hidden"
    sheet.append(headings)
    for at, row in enumerate(rows):
        for column, value in enumerate(row or []):
            cell = sheet.cell(at + 2, column + 1, f"=G{at + 2}*2" if column == 8 else value)
            if column == 2:
                cell.number_format = "dd/mm/yyyy hh:mm"
    book.save(path)


def with_libreoffice(source, path):
    with tempfile.TemporaryDirectory() as folder:
        command = ["soffice", "--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", folder, source]
        subprocess.run(command, check=True)
        shutil.copy(os.path.join(folder, os.path.basename(source)), path)


xlsxwriter_path = os.path.join(here, "xlsxwriter.xlsx")
with_xlsxwriter(xlsxwriter_path)
with_openpyxl(os.path.join(here, "openpyxl.xlsx"))
with_libreoffice(xlsxwriter_path, os.path.join(here, "libreoffice.xlsx"))
