// HV-60, HV-61: the whole Certificate, field by field.
import t from 'tap'
import { Certificate, certificate } from '../../../functions/certificate/render.ts'

const options = { namespace: 'monsoon3', issuer: 'nova-issuer' }
const address = (type: string, address: string) => ({ type, address })

t.test('the certificate of a node', async t => {
  const addresses = [
    address('Hostname', 'node-1'),
    address('InternalIP', '10.0.0.2'),
    address('InternalIP', '10.0.0.1'),
    address('ExternalIP', '192.0.2.1'),
    address('InternalDNS', 'b.example.com'),
    address('ExternalDNS', 'a.example.com'),
    address('Other', 'ignored')
  ]
  t.strictSame(certificate({ metadata: { name: 'node-1', uid: 'u' }, status: { addresses } }, options), {
    metadata: {
      name: 'libvirt-node-1',
      namespace: 'monsoon3',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' }]
    },
    spec: {
      secretName: 'tls-libvirt-node-1',
      commonName: 'node-1',
      subject: { organizations: ['nova'] },
      dnsNames: ['a.example.com', 'b.example.com', 'node-1'],
      ipAddresses: ['10.0.0.1', '10.0.0.2', '192.0.2.1'],
      duration: '1128h0m0s',
      renewBefore: '888h0m0s',
      privateKey: { algorithm: 'RSA', size: 4096, encoding: 'PKCS1' },
      usages: ['server auth', 'client auth', 'digital signature', 'key encipherment'],
      issuerRef: { group: 'cert-manager.io', kind: 'Issuer', name: 'nova-issuer' }
    }
  })
})

t.test('a node that has no address yet', async t => {
  const { spec } = certificate({ metadata: { name: 'node-1', uid: 'u' } }, options)
  t.strictSame(spec.dnsNames, ['node-1'])
  t.strictSame(spec.ipAddresses, [])
})

t.test('the kind, as cert-manager serves it', async t => {
  t.strictSame(Certificate, {
    group: 'cert-manager.io',
    version: 'v1',
    kind: 'Certificate',
    plural: 'certificates',
    namespaced: true
  })
})
