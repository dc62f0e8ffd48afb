import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { directive, problemsOf, serve } from '../../../ask.ts'
import { EXAMPLE_KEYS, newKeyFiles } from '../../../zone-keys.ts'

const FILES = { ...EXAMPLE_KEYS, ...newKeyFiles('keys/K', 'sub.example.net.') }

function corefile(...options: string[]): string {
  return ['example.net {', `  ${directive('dnssec', ...options)}`, '}'].join('\n')
}

describe('dnssec', () => {
  const good: { name: string; corefile: string; notices?: string[] }[] = [
    { name: 'takes names of keys', corefile: corefile('key file p256 p384') },
    { name: 'takes names of either file', corefile: corefile('key file p256.key p384.private') },
    { name: 'takes keys line by line', corefile: corefile('key file p256', 'key file p384') },
    { name: 'takes a capacity', corefile: corefile('key file p256', 'cache_capacity 0') },
    {
      name: 'takes zones below that of the key',
      corefile: [
        'test {',
        directive('dnssec A.example.net example.net', 'key file p256'),
        '}',
      ].join('\n'),
    },
    {
      name: 'reads keys below the folder of the root',
      corefile: ['sub.example.net {', 'root keys', directive('dnssec', 'key file K'), '}'].join(
        '\n',
      ),
    },
    {
      name: 'warns that it signs nothing without a key',
      corefile: 'example.net {\n  dnssec\n}',
      notices: ['Corefile:2:3: "dnssec" without "key" signs nothing'],
    },
  ]
  for (const { name, notices = [], ...one } of good) {
    test(name, () => {
      const { resolver } = serve(one.corefile, { files: FILES })
      const reported = resolver.notices.map(
        ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
      )
      assert.deepEqual(reported, notices)
    })
  }

  const bad: { name: string; options: string[]; problem: string }[] = [
    {
      name: 'an option that it does not have',
      options: ['keys file p256'],
      problem: 'Corefile:3:5: "dnssec" has no option "keys"; did you mean "key"?',
    },
    {
      name: 'a key from nowhere',
      options: ['key'],
      problem: 'Corefile:3:5: "key" takes "file" and the names of key files',
    },
    {
      name: 'a key from elsewhere',
      options: ['key p256'],
      problem: 'Corefile:3:9: "key" takes "file" and the names of key files',
    },
    {
      name: 'a key without a name',
      options: ['key file'],
      problem: 'Corefile:3:9: "key" takes "file" and the names of key files',
    },
    {
      name: 'a key in a cloud',
      options: ['key aws_secretsmanager one'],
      problem:
        'Corefile:3:9: keys in AWS Secrets Manager are not supported; put them into files, and ' +
        'name these with "key file"',
    },
    {
      name: 'a missing key',
      options: ['key file p256 none'],
      problem: 'Corefile:3:19: cannot read "none.key"',
    },
    {
      name: 'a key that signs none of the zones',
      options: ['key file ed25519'],
      problem:
        'Corefile:3:14: key 3613 of "example.com." cannot sign "example.net."; create one with ' +
        '"dnssec-keygen -a ECDSAP256SHA256 ZONE"',
    },
    {
      name: 'a key of a zone below',
      options: [`key file keys/K`],
      problem: 'of "sub.example.net." cannot sign "example.net."',
    },
    {
      name: 'a capacity that is not a number',
      options: ['cache_capacity many'],
      problem: 'Corefile:3:20: "many" is not a number from 0 to 10000000',
    },
    {
      name: 'two capacities',
      options: ['cache_capacity 1 2'],
      problem: 'Corefile:3:5: "cache_capacity" takes 1 argument(s), got 2',
    },
    {
      name: 'more keys than anybody has',
      options: [`key file${' p256'.repeat(65)}`],
      problem: 'Corefile:2:3: "dnssec" takes 64 keys at most',
    },
  ]
  for (const { name, options, problem } of bad) {
    test(`refuses ${name}`, () => {
      const [found = '', ...others] = problemsOf(corefile(...options), { files: FILES })
      assert.deepEqual(others, [])
      assert.ok(found === problem || (!problem.startsWith('C') && found.includes(problem)), found)
    })
  }

  test('stands once in a block', () => {
    assert.deepEqual(problemsOf('example.net {\n  dnssec\n  dnssec\n}'), [
      'Corefile:3:3: "dnssec" appears twice in this server block; remove one',
    ])
  })
})
