// What a domain may use, flattened (NA-6): only what is supported, sorted.
import { at, attribute, children, parse, textOf } from './xml.ts'

export interface DomainCapabilities {
  arch: string
  hypervisorType: string
  supportedDevices: string[]
  supportedCpuModes: string[]
  supportedFeatures: string[]
}

type Element = ReturnType<typeof parse>

const supported = (elements: Element[]): Element[] => elements.filter(element => attribute(element, 'supported') === 'yes')
const valuesOf = (element: Element): string[] => children(element, 'enum').flatMap(list => children(list, 'value').map(textOf))
const named = (name: string, element: Element): string[] => [name].concat(valuesOf(element).map(value => `${name}/${value}`))
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort()

export function domainCapabilities(xml: string): DomainCapabilities {
  const root = parse(xml)
  const modes = supported(children(at(root, 'cpu'), 'mode')).flatMap(mode => named(`mode/${attribute(mode, 'name')}`, mode))
  const devices = supported(children(at(root, 'devices'))).flatMap(device => named(device.name, device))
  return {
    arch: textOf(at(root, 'arch')) || 'unknown',
    hypervisorType: textOf(at(root, 'domain')) || 'unknown',
    supportedDevices: sorted(devices),
    supportedCpuModes: sorted(modes),
    supportedFeatures: sorted(supported(children(at(root, 'features'))).map(({ name }) => name))
  }
}
