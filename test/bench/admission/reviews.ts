// Machine CREATE reviews as the API server sends them: 200 different Machines, none of which is refused.
export const reviews: string[] = Array.from({ length: 200 }, (_, i) => {
  const name = `web-${i}`
  const kind = { group: 'vitistack.io', version: 'v1alpha1', kind: 'Machine' }
  const resource = { group: 'vitistack.io', version: 'v1alpha1', resource: 'machines' }
  const spec = {
    template: ['small', 'medium', 'large'][i % 3],
    resources: { cpu: { cores: 1 + (i % 8) }, memory: { size: `${2 + (i % 30)}Gi` } },
    disks: [
      { name: 'root', size: `${80 + i}Gi`, storageClass: 'default', accessMode: 'ReadWriteOnce', volumeMode: 'Filesystem' },
      { name: 'data', size: `${i + 1}Gi`, storageClass: 'default', accessMode: 'ReadWriteMany', volumeMode: 'Block' }
    ],
    bootOrder: ['disk', 'network'],
    cloudInit: { userData: `#cloud-config\nhostname: ${name}\npackages: [nginx, curl]\n` },
    powerState: 'Running'
  }
  const metadata = {
    name,
    namespace: 'shop',
    uid: `705ab4f5-6393-11e8-b7cc-${String(i).padStart(12, '0')}`,
    creationTimestamp: '2026-11-16T00:00:00Z',
    generation: 1
  }
  const request = {
    uid: `805ab4f5-6393-11e8-b7cc-${String(i).padStart(12, '0')}`,
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name,
    namespace: 'shop',
    operation: 'CREATE',
    userInfo: { username: 'jane', uid: '1', groups: ['devs', 'system:authenticated'] },
    object: { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', metadata, spec },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl-client-side-apply' }
  }
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request })
})
