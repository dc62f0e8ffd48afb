"""Requests a URL, its host resolved by the gateway: python3 python.py http://NAME/"""
import json
import os
import socket
import sys
import urllib.parse
import urllib.request

DOMAINS = tuple([${suffixes}])
system = socket.getaddrinfo


def getaddrinfo(host, *args, **options):
    if isinstance(host, str) and f".{host}".endswith(DOMAINS):
        query = urllib.parse.urlencode({"name": host, "type": "A"})
        token = os.environ.get("KUBEDOH_CLIENT_TOKEN", "")
        headers = {"authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"${origin}/resolve?{query}", headers=headers)
        with urllib.request.urlopen(request) as response:
            answer = json.load(response).get("Answer", [])
        host = next((record["data"] for record in answer if record["type"] == 1), host)
    return system(host, *args, **options)


socket.getaddrinfo = getaddrinfo
with urllib.request.urlopen(sys.argv[1]) as page:
    sys.stdout.buffer.write(page.read())
