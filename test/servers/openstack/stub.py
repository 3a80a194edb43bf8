# usage: stub.py network|image PORT.  Stand-ins for the two services that nova insists on and the tests only ask for names.
# network: every collection is empty (enough for servers booted with "networks": "none").
# image: one image called "fake"; any other id exists too and is a 1-byte raw image; snapshots can be made and deleted.
import json, re, sys, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

kind, port = sys.argv[1], int(sys.argv[2])
FAKE = '11111111-2222-3333-4444-555555555555'

def versions(name, path):
    return {'versions': [{'id': name, 'status': 'CURRENT', 'links': [{'rel': 'self', 'href': f'http://127.0.0.1:{port}/{path}/'}]}]}

def network(method, path, query):
    if not path: return versions('v2.0', 'v2.0')
    if len(path) == 1: return {'resources': []}
    if len(path) == 2: return {path[1].removesuffix('.json').replace('-', '_'): []}

def one(i):
    return {'id': i, 'name': 'fake', 'status': 'active', 'visibility': 'public', 'disk_format': 'raw', 'container_format': 'bare', 'size': 1,
            'virtual_size': 1, 'min_ram': 0, 'min_disk': 0, 'owner': None, 'protected': False, 'os_hidden': False, 'tags': [], 'checksum': None,
            'created_at': '2026-01-01T00:00:00Z', 'updated_at': '2026-01-01T00:00:00Z', 'schema': '/v2/schemas/image'}

def image(method, path, query):
    if not path: return versions('v2.16', 'v2')
    if path[:2] == ['v2', 'schemas']: return {'name': 'image', 'properties': {k: {} for k in one('')}, 'additionalProperties': {'type': 'string'}}
    if path == ['v2', 'images']:
        if method == 'POST': return one(str(uuid.uuid4()))
        return {'images': [one(FAKE)] if query.get('name', ['fake']) == ['fake'] else [], 'schema': '/v2/schemas/images', 'first': '/v2/images'}
    if len(path) == 3 and re.fullmatch('[0-9a-f-]{36}', path[2]): return one(path[2])

class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): pass
    def answer(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        url = urlsplit(self.path)
        found = {'network': network, 'image': image}[kind](self.command, [p for p in url.path.split('/') if p], parse_qs(url.query))
        status = 404 if found is None else 201 if self.command == 'POST' else 204 if self.command in ('PUT', 'DELETE') else 200
        body = b'' if status == 204 else json.dumps(found if found is not None else {'message': 'not in the stub'}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        if status != 204: self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
