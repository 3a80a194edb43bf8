# usage: seed.py identity | compute HOST...
# identity: service users and the catalog.  compute: waits until every hypervisor is up, mapped and in placement, then makes a flavor.
import os, sys, time
import requests

env = os.environ
keystone = env['AUTH_URL']
ports = {name: f"http://127.0.0.1:{env[name.upper() + '_PORT']}" for name in ('nova', 'placement', 'glance', 'neutron')}
S = requests.Session()
S.trust_env = False

def login():
    user = {'name': 'admin', 'domain': {'name': 'Default'}, 'password': env['PASSWORD']}
    scope = {'project': {'name': 'admin', 'domain': {'name': 'Default'}}}
    r = S.post(keystone + '/auth/tokens', json={'auth': {'identity': {'methods': ['password'], 'password': {'user': user}}, 'scope': scope}})
    r.raise_for_status()
    S.headers.update({'X-Auth-Token': r.headers['X-Subject-Token'], 'OpenStack-API-Version': 'compute 2.87'})

def ensure(kind, plural, body, **query):
    found = S.get(f'{keystone}/{plural}', params=query or {'name': body['name']}).json()[plural]
    if found: return found[0]['id']
    r = S.post(f'{keystone}/{plural}', json={kind: body})
    r.raise_for_status()
    return r.json()[kind]['id']

def identity():
    project = ensure('project', 'projects', {'name': 'service', 'domain_id': 'default'})
    roles = [ensure('role', 'roles', {'name': name}) for name in ('admin', 'service')]
    for name in ('nova', 'placement', 'glance', 'neutron'):
        user = ensure('user', 'users', {'name': name, 'domain_id': 'default', 'password': env['PASSWORD']})
        for role in roles: S.put(f'{keystone}/projects/{project}/users/{user}/roles/{role}').raise_for_status()
    urls = {'compute': ports['nova'] + '/v2.1', 'placement': ports['placement'], 'image': ports['glance'], 'network': ports['neutron']}
    for kind, url in urls.items():
        service = ensure('service', 'services', {'name': kind, 'type': kind})
        for face in ('public', 'internal', 'admin'):
            body = {'service_id': service, 'interface': face, 'region_id': 'RegionOne', 'url': url}
            ensure('endpoint', 'endpoints', body, service_id=service, interface=face)

def compute(hosts):
    # (from 2.88 on, os-hypervisors/detail asks every nova-compute for its uptime by RPC and hangs if one does not listen yet)
    end = time.time() + 120
    while True:
        r = S.get(ports['nova'] + '/v2.1/os-hypervisors/detail')
        up = {h['hypervisor_hostname'] for h in r.json()['hypervisors'] if h['state'] == 'up'} if r.ok else set()
        p = S.get(ports['placement'] + '/resource_providers', headers={'OpenStack-API-Version': 'placement 1.39'})
        provided = {p['name'] for p in p.json()['resource_providers']} if p.ok else set()
        if hosts <= up and hosts <= provided: break
        if time.time() > end: sys.exit(f'hypervisors missing: nova has {up}, placement has {provided}: {r.text[:300]}')
        time.sleep(0.2)
    if not any(f['name'] == 'm1.fake' for f in S.get(ports['nova'] + '/v2.1/flavors').json()['flavors']):
        flavor = {'name': 'm1.fake', 'id': '1', 'vcpus': 1, 'ram': 64, 'disk': 1}
        S.post(ports['nova'] + '/v2.1/flavors', json={'flavor': flavor}).raise_for_status()

login()
identity() if sys.argv[1] == 'identity' else compute(set(sys.argv[2:]))
