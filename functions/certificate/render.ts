// The certificate by which libvirt on a node proves who it is (HV-60, HV-61). Pure.
import type { Node } from '../../shared/kube/kinds.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'

export interface Certificate extends KubeObject {
  spec: {
    secretName: string
    commonName: string
    subject: { organizations: string[] }
    dnsNames: string[]
    ipAddresses: string[]
    duration: string
    renewBefore: string
    privateKey: { algorithm: 'RSA'; size: number; encoding: 'PKCS1' }
    usages: string[]
    issuerRef: { group: string; kind: string; name: string }
  }
}

export const Certificate: Kind<Certificate> = {
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  plural: 'certificates',
  namespaced: true
}

export interface Options {
  namespace: string
  issuer: string
}

const hours = (days: number): string => `${days * 24}h0m0s` // as the server writes it back
const unique = (names: readonly string[]): string[] => [...new Set(names)].sort()

export function certificate(node: Node, { namespace, issuer }: Options) {
  const { name = '', uid = '' } = node.metadata ?? {}
  const addresses = node.status?.addresses ?? []
  const of = (...types: string[]): string[] => addresses.filter(({ type }) => types.includes(type)).map(({ address }) => address)
  return {
    metadata: { name: `libvirt-${name}`, namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: {
      secretName: `tls-libvirt-${name}`,
      commonName: name,
      subject: { organizations: ['nova'] },
      dnsNames: unique([name, ...of('Hostname', 'InternalDNS', 'ExternalDNS')]),
      ipAddresses: unique(of('InternalIP', 'ExternalIP')),
      duration: hours(47),
      renewBefore: hours(37),
      privateKey: { algorithm: 'RSA' as const, size: 4096, encoding: 'PKCS1' as const },
      usages: ['server auth', 'client auth', 'digital signature', 'key encipherment'],
      issuerRef: { group: 'cert-manager.io', kind: 'Issuer', name: issuer }
    }
  }
}
