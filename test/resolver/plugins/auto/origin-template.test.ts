import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../../src/dns/names/name.ts'
import { compilePattern } from '../../../../src/go/pattern/pattern.ts'
import { originOfFile } from '../../../../src/resolver/plugins/auto/setup.ts'

describe('the zone of a file', () => {
  const cases: {
    name: string
    pattern?: string
    template?: string
    file: string
    is: string | undefined
  }[] = [
    { name: 'is the text after db.', file: 'db.example.org', is: 'example.org.' },
    { name: 'is in lower case', file: 'db.Example.ORG', is: 'example.org.' },
    { name: 'is none for other files', file: 'README', is: undefined },
    { name: 'is none for what is not a name', file: 'db.a..b', is: undefined },
    { name: 'is the root for nothing', file: 'db.', is: '.' },
    { name: 'is found anywhere in the name', file: 'x.db.example.org', is: 'example.org.' },
    {
      name: 'is made of several groups',
      pattern: '^(.*)-(.*)\\.zone$',
      template: '{2}.{1}',
      file: 'org-example.zone',
      is: 'example.org.',
    },
    {
      name: 'is made of groups with names',
      pattern: '(?P<zone>.*)\\.db',
      template: '{zone}.test',
      file: 'a.db',
      is: 'a.test.',
    },
    {
      name: 'is made of the whole',
      pattern: '(.*)',
      template: '{0}',
      file: 'example.org',
      is: 'example.org.',
    },
    {
      name: 'has nothing for groups that are missing',
      pattern: '(a)|(b)',
      template: 'x{2}{3}{y}.test',
      file: 'a',
      is: 'x.test.',
    },
    {
      name: 'has dollars as they are',
      pattern: '(.*)',
      template: '$1.test',
      file: 'a',
      is: '$1.test.',
    },
  ]
  for (const { name, pattern = 'db\\.(.*)', template = '{1}', file, is } of cases) {
    test(name, () => {
      const origin = originOfFile({ pattern: compilePattern(pattern), template }, file)
      assert.equal(origin && formatName(origin), is)
    })
  }
})
