"""Write the golden sources anew: ``python -m tests.golden``; read the difference before it is committed."""

import sys

from tests.golden.cases import CASES, FOLDER, PRODUCTS


def main() -> int:
    """Write every source, remove those that belong to no case, and return how many do not compile."""
    failed = 0
    paths = {case.path for case in (*CASES, *PRODUCTS)}
    for path in FOLDER.glob("*.txt"):
        if path not in paths:
            path.unlink()
            print("removed", path.name)
    for case in (*CASES, *PRODUCTS):
        try:
            text = case.text()
        except Exception as error:
            print("failed", case.name, repr(error))
            failed += 1
            continue
        if not case.path.exists() or case.path.read_text(encoding="utf-8") != text:
            case.path.write_text(text, encoding="utf-8")
            print("wrote", case.path.name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
