import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { parseAuto } from '../../../../src/resolver/plugins/auto/setup.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function parsed(...lines: string[]): unknown {
  const found = parseAuto(lines.map(parseDirective), [nameOf('example.org')])
  const { zones, folder, origin, reloadMs } = found
  const names = zones.map((zone) => formatName(zone)).join(' ')
  return [names, folder, origin.pattern.source, origin.template, reloadMs]
}

describe('auto takes', () => {
  const cases: { name: string; lines: string[]; is: unknown[] }[] = [
    {
      name: 'a folder, with files called db.ZONE, looked at each minute',
      lines: [directive('auto', 'directory /zones')],
      is: ['example.org.', '/zones', 'db\\.(.*)', '{1}', 60_000],
    },
    {
      name: 'zones, other names of files, other times',
      lines: [directive('auto a.test b.test', 'directory z (.*)\\.zone {1}.test', 'reload 5s')],
      is: ['a.test. b.test.', 'z', '(.*)\\.zone', '{1}.test', 5000],
    },
    {
      name: 'no time at all',
      lines: [directive('auto', 'directory z', 'reload 0', 'upstream 192.0.2.1')],
      is: ['example.org.', 'z', 'db\\.(.*)', '{1}', 0],
    },
    {
      name: 'several directives for one, the last word of each option counts',
      lines: [
        directive('auto a.test', 'directory a (x) y', 'reload 5s'),
        directive('auto', 'directory b'),
      ],
      is: ['example.org.', 'b', '(x)', 'y', 5000],
    },
    { name: 'nothing', lines: ['auto'], is: ['example.org.', '', 'db\\.(.*)', '{1}', 60_000] },
  ]
  for (const { name, lines, is } of cases) {
    test(name, () => {
      assert.deepEqual(parsed(...lines), is)
    })
  }
})

describe('auto refuses', () => {
  const cases: { name: string; lines: string[]; problem: string }[] = [
    {
      name: 'directory without a folder',
      lines: ['directory'],
      problem: 'Corefile:3:5: "directory" takes 1 to 3 argument(s), got 0',
    },
    {
      name: 'an expression without a template',
      lines: ['directory z (.*)'],
      problem: 'Corefile:3:17: "(.*)" needs a template after it, such as {1}',
    },
    {
      name: 'a surplus argument',
      lines: ['directory z (.*) {1} x'],
      problem: 'Corefile:3:5: "directory" takes 1 to 3 argument(s), got 4',
    },
    {
      name: 'an expression without a group',
      lines: ['directory z .* {1}'],
      problem: 'Corefile:3:17: ".*" needs a group in parentheses, which yields the zone',
    },
    {
      name: 'an invalid expression',
      lines: ['directory z ( {1}'],
      problem: 'Corefile:3:17: "(" is not a regular expression: missing closing ): `(`',
    },
    {
      name: 'an expression that is too long',
      lines: [`directory z (${'a'.repeat(10_000)}) {1}`],
      problem: 'Corefile:3:17: an expression may have at most 10000 characters',
    },
    {
      name: 'reload without a duration',
      lines: ['reload'],
      problem: 'Corefile:3:5: "reload" takes 1 or more argument(s), got 0',
    },
    {
      name: 'other options',
      lines: ['follow'],
      problem: 'Corefile:3:5: "auto" has no option "follow"; it has directory, reload, answers',
    },
  ]
  for (const { name, lines, problem } of cases) {
    test(name, () => {
      const [found = ''] = problemsOf(block(directive('auto', ...lines)))
      assert.equal(found, problem)
    })
  }
})
