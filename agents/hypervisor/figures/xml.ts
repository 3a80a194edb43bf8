// Walking libvirt's documents. Strict: what is no XML throws.
import { parseXml, XmlElement, type XmlDocument } from '@rgrove/parse-xml'

export const parse = (text: string): XmlElement => {
  const { root } = parseXml(text) as XmlDocument & { root: XmlElement | null }
  if (root === null) throw new Error('an empty document')
  return root
}

export const children = (element: XmlElement | undefined, name?: string): XmlElement[] =>
  (element?.children ?? []).filter(
    (node): node is XmlElement => node instanceof XmlElement && (name === undefined || node.name === name)
  )

/** The first element at the end of the path. */
export function at(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = element
  for (const name of path) found = children(found, name)[0]
  return found
}

export const textOf = (element: XmlElement | undefined): string => element?.text.trim() ?? ''
export const attribute = (element: XmlElement | undefined, name: string): string | undefined => element?.attributes[name]
