// Regular expressions as Go reads them: RE2 knows neither look-around nor references to groups, and says so in its own words.

const unsupportedGroup = /^\(\?(?![:imsU-]|P?<\w)/
const escapes = /^\\(?:[pP]?[\s\S])/
const good = /[abBdDsSwWfnrtvxQEAzpPC]|[^A-Za-z0-9]/

/** Why Go would not take the pattern; undefined when it would. */
export function re2Error(pattern: string): string | undefined {
  const why = unknownSyntax(pattern) ?? unreadable(pattern)
  return why === undefined ? undefined : `error parsing regexp: ${why}`
}

function unknownSyntax(pattern: string): string | undefined {
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at)
    if (rest[0] === '\\') {
      if (rest.length === 1) return 'trailing backslash at end of expression: ``'
      const [escape = ''] = escapes.exec(rest) ?? []
      if (!good.test(rest[1] ?? '') && !rest.startsWith('\\0')) return `invalid escape sequence: \`${escape}\``
      at++
    } else if (inClass) {
      inClass = rest[0] !== ']'
    } else if (rest[0] === '[') {
      inClass = true
      at += /^\[\^?\]?/.exec(rest)![0].length - 1
    } else if (rest.startsWith('(?<') && !/^\(\?<\w/.test(rest)) {
      return `invalid named capture: \`${rest}\``
    } else if (unsupportedGroup.test(rest)) {
      return `invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``
    } else {
      const [, repeat = '', least = '', most = ''] = /^(\{(\d+)(?:,(\d*))?\})/.exec(rest) ?? []
      const counts = [least, most].filter(each => each !== '').map(Number)
      if (counts.some(count => count > 1000) || (counts[1] ?? Infinity) < (counts[0] ?? 0))
        return `invalid repeat count: \`${repeat}\``
    }
  }
  return undefined
}

/** What neither of the two can read; said in V8's words. */
function unreadable(pattern: string): string | undefined {
  try {
    goRegExp(pattern)
    return undefined
  } catch (err) {
    return (err as Error).message
  }
}

const posix: Record<string, string> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f'
}

/** The few things that Go writes in another way than JavaScript. */
export function goRegExp(pattern: string): RegExp {
  const [, flags = '', body = ''] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(pattern) ?? []
  const source = body
    .replaceAll('(?P<', '(?<')
    .replaceAll(/(?<!\\)\\A/g, '^')
    .replaceAll(/(?<!\\)\\z/g, '$')
    .replaceAll(/\[:(\w+):\]/g, (all, name: string) => posix[name] ?? all)
  try {
    return new RegExp(source, `${flags}u`)
  } catch {
    return new RegExp(source, flags) // `\-` and the like, which only the older syntax takes
  }
}
