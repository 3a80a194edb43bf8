// CESQL 1.0, as a filter sees it: true, or not.
import t from 'tap'
import { CesqlSyntaxError, compileCesql } from '../../../shared/local/broker/cesql/index.ts'

const event = {
  specversion: '1.0',
  id: 'i1',
  source: 'https://example.org/x',
  type: 'com.example.error',
  sequence: '12',
  flag: 'TRUE',
  empty: ''
}

/** One expression a line. */
const lines = (text: string): string[] => text.trim().split(/\n\s*/)

const holds: Record<string, string> = {
  literals: `
    TRUE
    true
    NOT false
    'abc' = 'abc'
    "a'b" = 'a\\'b'
    'a"b' = "a\\"b"
    'aBc' != 'abc'
    SeQuence = '12'`,
  'comparison, in the type of the right side': `
    1 = 1
    1 != 2
    1 <> 2
    1 < 2
    2 <= 2
    2 > 1
    2 >= 2
    sequence = 12
    sequence > 3
    'TRUE' = true
    true = 'true'
    flag = true`,
  'logic groups to the right and stops early': `
    true AND true
    false OR true
    true XOR false
    true OR 1 / 0 = 1
    NOT (false AND 1 / 0 = 1)
    true OR true AND false
    NOT (true AND false OR false)`,
  arithmetic: `
    4 * 2 + 4 / 2 = 10
    4 * (2 + 4) / 2 = 12
    5 / 3 = 1
    -5 / 3 = -1
    -5 % 3 = -2
    5 % 2 = 1
    --10 = 10
    -'10' = -10
    '5' + '3' = 8
    5 + TRUE = 6
    4 -1 = 3
    +5 = 5
    -2147483648 < 0`,
  LIKE: `
    'abc' LIKE 'a%c'
    'ac' LIKE 'a%c'
    'abc' LIKE 'a_c'
    'abc' NOT LIKE 'a_b_c'
    'a%c' LIKE 'a\\%c'
    'abc' NOT LIKE 'a\\%c'
    'a_c' LIKE 'a\\_c'
    'x.y' LIKE '%.%'
    'xy' NOT LIKE '%.%'
    234 LIKE '23_'
    TRUE LIKE 'tr%'
    type LIKE '%.error'
    '[x]' LIKE '[x]'
    'é' LIKE '_'`,
  'IN, in the type of the left side': `
    type IN ('a', 'com.example.error')
    type NOT IN ('a', 'b')
    1 IN ('2', '1')
    sequence IN (1, 12)
    'abc' IN (CONCAT('a', 'bc'))`,
  EXISTS: `
    EXISTS id
    EXISTS empty
    NOT EXISTS missing
    EXISTS TYPE`,
  functions: `
    LENGTH('abc') = 3
    length('') = 0
    LENGTH(TRUE) = 4
    CONCAT() = ''
    CONCAT('a', 1, true) = 'a1true'
    CONCAT_WS(',', 'a', 'b') = 'a,b'
    CONCAT_WS(',') = ''
    LOWER('AbC') = 'abc'
    UPPER('abc') = 'ABC'
    TRIM('  a b ') = 'a b'
    LEFT('abc', 2) = 'ab'
    LEFT('abc', 9) = 'abc'
    RIGHT('abc', 2) = 'bc'
    RIGHT('abc', 0) = ''
    SUBSTRING('abcdef', 2) = 'bcdef'
    SUBSTRING('abcdef', -3) = 'def'
    SUBSTRING('abcdef', 2, 3) = 'bcd'
    SUBSTRING('abc', 0) = ''
    SUBSTRING('abcdef', 5, 9) = 'ef'
    ABS(-5) = 5
    INT('-1') = -1
    INT(TRUE) = 1
    BOOL('TRUE')
    BOOL(-50)
    STRING(1) = '1'
    IS_INT('1')
    NOT IS_INT('a')
    IS_BOOL(flag)`
}

const fails: Record<string, string> = {
  'false, or no boolean': `
    FALSE
    'true'
    1
    type
    type = 'other'`,
  'an attribute is missing': `
    missing = 1
    missing != 'a'
    NOT missing
    missing LIKE '%'
    true AND missing = 1
    -missing = 0
    missing IN ('a')`,
  'mathematics and casts': `
    1 / 0 = 0
    1 % 0 = 0
    NOT 'abc'
    'abc' + 1 = 1
    'abc' = 1
    INT('99999999999') = 0
    2147483647 + 1 = 0
    ABS(-2147483648) = 0`,
  functions: `
    LEFT('abc', -1) = 'abc'
    SUBSTRING('abc', 9) = ''
    SUBSTRING('abc', 1, -1) = ''
    CONCAT_WS() = false
    UNKNOWN() = 1
    LENGTH() = 0
    LENGTH('a', 'b') = 1`,
  'unary operators bind first, so this negates the text': `
    NOT type LIKE '%.error'`
}

const refused = lines(`
    (
    1 +
    type =
    a b
    'open
    type IN ()
    type LIKE type
    AND
    EXISTS
    EXISTS 'id'
    2147483648
    -2147483649
    foo_bar = 1
    a $ b
    CONCAT(,)
    1 ! 2
    +type`)

for (const [name, expressions] of Object.entries(holds)) {
  void t.test(`holds: ${name}`, async t => {
    for (const text of lines(expressions)) t.equal(compileCesql(text)(event), true, text)
  })
}
for (const [name, expressions] of Object.entries(fails)) {
  void t.test(`does not match: ${name}`, async t => {
    for (const text of lines(expressions)) t.equal(compileCesql(text)(event), false, text)
  })
}
void t.test('is refused', async t => {
  for (const text of ['', ...refused]) t.throws(() => compileCesql(text), CesqlSyntaxError, text)
})
