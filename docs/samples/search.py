"""Print every hit of a question: python search.py "rank fusion" [http://127.0.0.1:8080]"""

import json
import sys
from urllib.request import Request, urlopen


def ask(server, request):
    body = json.dumps(request).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{server}/v1/search", body, headers), timeout=10) as answer:
        return json.load(answer)


def every_hit(server, text):
    cursor = None
    while True:
        page = ask(server, {"text": text, "limit": 50, "cursor": cursor})
        yield from page["hits"]
        cursor = page["nextCursor"]
        if cursor is None:
            return


if __name__ == "__main__":
    server = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080"
    for place, hit in enumerate(every_hit(server, sys.argv[1]), start=1):
        print(f"{place:3} {hit['score']:.3f} {hit['title']} <{hit['uid']}>")
