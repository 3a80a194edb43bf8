// Beyond the corpus: every field of every valid spec is replaced by odd values, one at a time, and the API server's verdict (a dry run)
// must be the validator's.
import t from 'tap'
import { validate } from '../../shared/schema/validate.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { request } from '../servers/request.ts'
import { corpus, type Sample } from './corpus.ts'

const odd: unknown[] = [null, '', 'A b', -1, 1.5, 2 ** 40, {}, [null], '1.5Gi']

type Path = Array<string | number>

/** The places in a value, itself included. */
const places = (value: unknown, path: Path): Path[] => [
  path,
  ...(Array.isArray(value) ? [...value.entries()] : Object.entries(Object(value) === value ? (value as object) : {})).flatMap(
    ([step, inner]) => places(inner, [...path, step])
  )
]

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by
  if (Array.isArray(value)) return value.with(Number(step), replaced(value[Number(step)], rest, by))
  const fields = value as Record<string, unknown>
  return { ...fields, [step]: replaced(fields[step], rest, by) }
}

const withoutStatus = ({ apiVersion, kind, metadata, spec }: Sample): Sample => ({ apiVersion, kind, metadata, spec })

/** One mutation for each kind, field and odd value, however many objects have that field. */
function mutations() {
  const seen = new Set<string>()
  const withSpec = corpus('valid').filter(({ object }) => object.spec !== undefined)
  return withSpec.flatMap(({ kind, object }) =>
    places(object.spec, ['spec']).flatMap(path =>
      odd.flatMap(value => {
        const name = `${kind.kind} ${path.filter(step => typeof step === 'string').join('.')} = ${JSON.stringify(value)}`
        if (seen.has(name)) return []
        seen.add(name)
        return [{ name, kind, object: replaced(withoutStatus(object), path, value) as Sample }]
      })
    )
  )
}

t.test('server and validator agree about odd values in every field', async t => {
  const api = await kubernetes(t)
  const verdicts = []
  for (const { name, kind, object } of mutations()) {
    const { group, version, plural, namespaced } = kind
    const place = namespaced ? `namespaces/${api.namespace}/${plural}` : plural
    const own = namespaced ? { namespace: api.namespace } : { name: `${api.namespace}-${object.metadata.name}` }
    const path = `/apis/${group}/${version}/${place}?dryRun=All&fieldValidation=Strict`
    const { status, body } = await request(api, 'POST', path, { ...object, metadata: { ...object.metadata, ...own } })
    const wrong = validate(kind, object)
    verdicts.push({ name, status, agree: (status === 201) === (wrong.length === 0), wrong, message: body.message })
  }
  t.ok(verdicts.length > 1000, `${verdicts.length} mutations`)
  t.strictSame(
    verdicts.filter(({ agree }) => !agree),
    []
  )
  t.ok(verdicts.some(({ status }) => status === 201) && verdicts.some(({ status }) => status >= 400), 'of both kinds')
})
