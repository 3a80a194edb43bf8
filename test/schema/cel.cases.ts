// Expressions with the answer the API server gives; cel.test.ts asks ours, cel.real.test.ts asks the server.
export const expressions: Array<[text: string, holds: boolean]> = [
  ["isQuantity('1.5Gi')", true],
  ["isQuantity('4GB')", false],
  ["quantity('1Gi').isGreaterThan(quantity('1G'))", true],
  ["quantity('500m').isLessThan(quantity('1'))", true],
  ["quantity('500m').isInteger()", false],
  ["quantity('50k').asInteger() == 50000", true],
  ["quantity('1.5Gi').asApproximateFloat() == 1610612736.0", true],
  ["quantity('50k').add(20) == quantity('50020')", true],
  ["quantity('50k').sub(quantity('1k')).compareTo(quantity('49000')) == 0", true],
  ["quantity('1e99').isGreaterThan(quantity('7Ei'))", true],
  ["quantity('0.1n') == quantity('1n')", true],
  ["isIP('10.0.0.1') && isIP('2001:db8::1')", true],
  ["isIP('10.0.0.256') || isIP('10.0.0.01') || isIP('::ffff:10.0.0.1') || isIP('fe80::1%eth0')", false],
  ["ip('2001:db8::1').family() == 6", true],
  ["isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0')", true],
  ["cidr('10.20.0.0/22').containsIP('10.20.3.255')", true],
  ["cidr('10.20.0.0/22').containsIP(ip('10.20.4.0'))", false],
  ["cidr('10.20.0.0/22').prefixLength() == 22", true],
  ["isURL('https://example.org:8443/a?b=c') && isURL('/absolute')", true],
  ["isURL('relative/path')", false],
  ["url('https://example.org:8443/a').getHost() == 'example.org:8443'", true],
  [
    "url('https://example.org:8443/a').getHostname() == 'example.org' && url('https://example.org:8443/a').getPort() == '8443'",
    true
  ],
  ["url('https://example.org/a').getScheme() == 'https' && url('https://example.org/a').getEscapedPath() == '/a'", true],
  ["'abc 123 def'.find('[0-9]+') == '123'", true],
  ["'a1 b2'.findAll('[0-9]') == ['1', '2']", true],
  ["'AB'.lowerAscii() == 'ab' && 'ab'.upperAscii() == 'AB'", true],
  ['[1, 2, 2].isSorted() && ![2, 1].isSorted()', true],
  ['[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0', true],
  ['[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3', true],
  ['[4, 5, 4].indexOf(4) == 0 && [4, 5, 4].lastIndexOf(4) == 2', true],
  ['[4].indexOf(7) == -1', true],
  ['1 / 2 == 0 && 7 % 4 == 3', true],
  ['double(int(2.9)) == 2.0', true],
  ["has(self.absent) || self.given == 'yes'", true],
  ['self.?absent.orValue(7) == 7', true],
  ["self.__namespace__ == 'escaped' && self.dash__dash__ed == 'escaped'", true],
  ['self.number == 2.0 && self.integer == 2', true],
  ["self.when < timestamp('2026-01-01T00:00:00Z')", true],
  ['self.counts.all(key, self.counts[key] > 0)', true]
]

/** What `self` is in these expressions: its schema and a value. */
export const selfSchema = {
  type: 'object' as const,
  properties: {
    given: { type: 'string' as const },
    absent: { type: 'integer' as const },
    namespace: { type: 'string' as const },
    'dash-ed': { type: 'string' as const },
    number: { type: 'number' as const },
    integer: { type: 'integer' as const },
    when: { type: 'string' as const, format: 'date-time' },
    counts: { type: 'object' as const, additionalProperties: { type: 'integer' as const } }
  }
}
export const selfValue = {
  given: 'yes',
  namespace: 'escaped',
  'dash-ed': 'escaped',
  number: 2,
  integer: 2,
  when: '2025-06-01T08:15:30Z',
  counts: { a: 1, b: 2 }
}
