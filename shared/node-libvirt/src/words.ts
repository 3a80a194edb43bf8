// libvirt's enums grow with each release: a value that has no word yet stays the number it is.

export type Word<Words extends readonly string[]> = Words[number] | number

/** The value of a word; the way back of `word`. */
export const valueOf = <const Words extends readonly string[]>(words: Words, value: Word<Words>): number =>
  typeof value === 'number' ? value : words.indexOf(value)

export function word<const Words extends readonly string[]>(words: Words, value: number): Word<Words> {
  return words[value] ?? value
}
