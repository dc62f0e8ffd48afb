import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf } from '../../../ask.ts'

const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf'

describe('the options of cookies', () => {
  const problems: { name: string; line: string; text?: string; problem: string }[] = [
    {
      name: 'need their file',
      line: 'cookies secrets',
      problem: 'Corefile:2:11: cannot read "secrets"',
    },
    {
      name: 'are not missing in the file',
      line: 'cookies secrets',
      text: '# none\n',
      problem: 'Corefile:2:11: "secrets" has no cookie secret',
    },
    {
      name: 'have 16 bytes',
      line: 'cookies secrets',
      text: `${SECRET}\n  ab12\n`,
      problem:
        'secrets:2:3: a cookie secret has 32 hexadecimal digits; create one with "openssl rand -hex 16"',
    },
    {
      name: 'are two at most',
      line: 'cookies secrets',
      text: `${SECRET}\n${SECRET}\n${SECRET}`,
      problem: 'secrets:3:1: a file has at most 2 cookie secrets; remove the oldest',
    },
    {
      name: 'are in one file',
      line: 'cookies a b',
      problem: 'Corefile:2:13: "cookies" takes at most 1 argument(s), got "b"',
    },
    {
      name: 'come with a rate above 0',
      line: directive('cookies', 'rate 0'),
      problem: 'Corefile:3:10: "0" is not a number from 1 to 1000000',
    },
    {
      name: 'come with known options',
      line: directive('cookies', 'rates 5'),
      problem: 'Corefile:3:5: "cookies" has no option "rates"; did you mean "rate"?',
    },
  ]
  for (const { name, line, text, problem } of problems) {
    test(name, () => {
      const files = text === undefined ? {} : { secrets: text }
      assert.deepEqual(problemsOf(block(line), { files }), [problem])
    })
  }
})
