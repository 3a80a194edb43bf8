// HV-12: the stamp of who set maintenance, and the patch that puts a forged one right.
import t from 'tap'
import { setAt, setBy, stampFor, stampPatch } from '../../shared/rules/maintenance-stamp.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

const now = new Date('2026-11-16T10:20:30.456Z')
const host = (maintenance?: string, annotations?: Record<string, string>): Hypervisor =>
  ({
    metadata: { name: 'h', ...(annotations && { annotations }) },
    spec: maintenance === undefined ? {} : { maintenance }
  }) as Hypervisor
const stamp = { [setBy]: 'jane', [setAt]: '2026-11-16T10:20:30Z' }
const patch = (object: Hypervisor, old: Hypervisor | undefined) => stampPatch(object, stampFor(object, old, 'jane', now))
const [by, at] = [setBy, setAt].map(key => `/metadata/annotations/${key.replace('/', '~1')}`)

t.test('set with the mode, anew with each, gone with it', async t => {
  t.strictSame(patch(host('auto'), host()), [
    { op: 'add', path: '/metadata/annotations', value: {} },
    { op: 'add', path: by, value: 'jane' },
    { op: 'add', path: at, value: '2026-11-16T10:20:30Z' }
  ])
  t.strictSame(
    patch(host('auto', { a: 'b' }), undefined).map(({ path }) => path),
    [by, at],
    'beside what is there'
  )
  t.strictSame(patch(host('auto', { ...stamp, [setBy]: 'bob' }), host('manual', { [setBy]: 'bob' })), [
    { op: 'add', path: by, value: 'jane' }
  ])
  t.strictSame(
    patch(host('', stamp), host('auto', stamp)).map(({ op }) => op),
    ['remove', 'remove']
  )
})

t.test('while the mode stays, so does the stamp', async t => {
  const old = host('auto', stamp)
  t.strictSame(patch(old, old), [])
  t.strictSame(patch(host('auto', { [setBy]: 'bob' }), old), [
    { op: 'add', path: by, value: 'jane' },
    { op: 'add', path: at, value: '2026-11-16T10:20:30Z' }
  ])
  t.strictSame(patch(host('auto'), old).length, 3, 'taken away, it comes back')
  t.strictSame(
    patch(host(undefined, { [setBy]: 'bob' }), host()),
    [{ op: 'remove', path: by }],
    'a stamp without maintenance is none'
  )
  t.strictSame(patch(host('', { a: 'b' }), host()), [], 'empty is none')
})
