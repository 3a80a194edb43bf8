import { dnsLabel, dnsSubdomain, exactlyOne, listMap, object, quantity, rule, text, word } from './vocabulary.ts'

export const positive = rule("quantity(string(self)).isGreaterThan(quantity('0'))", 'must be greater than zero')

const deviceName = (description: string) =>
  text(description, { ...dnsLabel, rules: [rule("self != 'cloudinitdisk'", 'cloudinitdisk is reserved')] })
const size = (description: string) => quantity(description, { maxLength: 64, rules: [positive] })

const named = (description: string) =>
  object(
    description,
    { name: text('Name', dnsSubdomain), namespace: text("Namespace; the Machine's own when absent", dnsLabel) },
    { required: ['name'] }
  )

const members = {
  blank: object('An empty disk', {}),
  http: object(
    'An image from a web server',
    { url: text('Address, http or https', { pattern: '^https?://.+', maxLength: 2048 }) },
    { required: ['url'] }
  ),
  registry: object(
    'An image from a container registry',
    { url: text('Address, docker:// or oci-archive://', { pattern: '^(docker|oci-archive)://.+', maxLength: 2048 }) },
    { required: ['url'] }
  ),
  pvc: named('A copy of another claim'),
  dataSource: named('A DataSource'),
  containerDisk: object(
    'An image in a container; writes are lost at power-off',
    { image: text('Image', { minLength: 1, maxLength: 1024 }) },
    { required: ['image'] }
  )
}
const oneMember = exactlyOne(...Object.keys(members))

// Disks and their defaults. The schema may fill these in although a disk of the same name in the template is overridden field by field
// (T4): the templates use the very same values, so a default never changes what the merge yields. Size has no default.
const disk = object(
  'One disk',
  {
    name: deviceName('Name; that of a template disk overrides it'),
    size: size('Size; that of the template disk when absent'),
    storageClass: text('StorageClass; `default` means the default class of the cluster', { ...dnsSubdomain, default: 'default' }),
    accessMode: word('Who may use the volume at once', ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod'], {
      default: 'ReadWriteOnce'
    }),
    volumeMode: word('File system or block device', ['Filesystem', 'Block'], { default: 'Filesystem' }),
    source: object('What the disk holds at first; empty when absent', members, { rules: [oneMember] })
  },
  { required: ['name'] }
)

const cdrom = object(
  'One CD-ROM',
  {
    name: deviceName('Name'),
    size: size('Size; needed for http, registry and dataSource'),
    storageClass: text('StorageClass', dnsSubdomain),
    source: object('What is in the drive', members, {
      rules: [oneMember, rule('!has(self.blank)', 'a CD-ROM needs something to read', '.blank')]
    })
  },
  {
    required: ['name', 'source'],
    rules: [
      rule(
        'has(self.size) || !(has(self.source.http) || has(self.source.registry) || has(self.source.dataSource))',
        'size is needed for a source of http, registry or dataSource'
      )
    ]
  }
)

// List-maps: the server itself then refuses a name that occurs twice in one list.
export const disks = listMap('Disks, after those of the template', disk, ['name'], { maxItems: 128 })
export const cdroms = listMap('CD-ROMs', cdrom, ['name'], { maxItems: 32 })
