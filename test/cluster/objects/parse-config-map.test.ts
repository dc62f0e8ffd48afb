import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { parseInSteps, parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf } from '../naming.ts'

const configMap = (form: string, data: Readonly<Record<string, string>>): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'names', namespace: 'shop', labels: { 'kubedoh.dev/hostnames': form } },
  data,
})

function linesIn(value: unknown): string[] {
  const groups = new HostGroups(hostsTree({ resources: ['ConfigMap'] }))
  const object = parseObject(value)
  assert.ok(object?.kind === 'ConfigMap')
  groups.set(object)
  const lines = formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
  return lines.filter((line) => !line.includes('a.test.a.test '))
}

function problemOf(value: unknown): string {
  const object = parseObject(value)
  assert.ok(object?.kind === 'problem')
  return object.message
}

describe('a ConfigMap', () => {
  test('has the records of zone files, but for SOA and NS', () => {
    const zone = `
$TTL 300
@    IN SOA ns hostmaster 1 7200 1800 86400 60
@    IN NS  ns
@    IN A   203.0.113.1
www  IN A   203.0.113.2
www  IN A   203.0.113.3
mail 60 IN MX 10 mx.example.net.
v    IN CNAME www
*.w  IN TXT "hello"
`
    assert.deepEqual(
      linesIn(configMap('zone', { 'a.test': zone })),
      linesOf(`
        a.test 300 A 203.0.113.1
        www.a.test 300 A 203.0.113.2
        www.a.test 300 A 203.0.113.3
        mail.a.test 60 MX 10 mx.example.net.
        v.a.test 300 CNAME www.a.test.
        *.w.a.test 300 TXT "hello"`),
    )
  })

  test('has the hostnames in hosts files', () => {
    const hosts = `# printers
203.0.113.4 printer.a.test Scanner.a.test. # both
2001:db8::4 printer.a.test
nonsense here
`
    assert.deepEqual(
      linesIn(configMap('hosts', { anything: hosts })),
      linesOf(`
        printer.a.test 60 A 203.0.113.4
        printer.a.test 60 AAAA 2001:db8::4
        scanner.a.test 60 A 203.0.113.4`),
    )
  })

  const wrong: { name: string; value: unknown; message: RegExp }[] = [
    {
      name: 'another form',
      value: configMap('list', {}),
      message: /label kubedoh.dev\/hostnames is "list", expected "zone" or "hosts"$/,
    },
    {
      name: 'a key that is no zone',
      value: configMap('zone', { 'a..test': '' }),
      message: /key "a..test" is not a zone$/,
    },
    {
      name: 'a line that is no record',
      value: configMap('zone', { 'a.test': 'www 60 IN A nonsense\n' }),
      message: /ConfigMap shop\/names: a.test:1:/,
    },
    {
      name: 'an included file',
      value: configMap('zone', { 'a.test': '$INCLUDE /etc/passwd\n' }),
      message: /ConfigMap shop\/names: a.test:1:/,
    },
    {
      name: 'too many records',
      value: configMap('zone', { 'a.test': '$TTL 60\n$GENERATE 0-200000 h$ A 192.0.2.1\n' }),
      message: /a.test:2:/,
    },
    {
      name: 'more generated records than hostnames, before it makes one',
      value: configMap('zone', {
        'a.test': '$GENERATE 0-2499 h$ A x\n$generate 0-5001/2 h$ A x\n',
      }),
      message: /it has more than 5000 hostnames, of which long ones count several times$/,
    },
    {
      name: 'more records than hostnames',
      value: configMap('zone', { 'a.test': 'h 60 A 192.0.2.1\n'.repeat(5001) }),
      message: /it has more than 5000 hostnames/,
    },
    {
      name: 'more names in a hosts file than hostnames',
      value: configMap('hosts', { hosts: `192.0.2.1 ${'h.a.test '.repeat(5001)}` }),
      message: /it has more than 5000 hostnames/,
    },
    {
      name: 'long names, which count several times',
      value: configMap('zone', { 'a.test': `${'a.'.repeat(70)}h 60 A 192.0.2.1\n`.repeat(556) }),
      message: /it has more than 5000 hostnames/,
    },
    {
      name: 'records of more than 1 MiB',
      value: configMap('zone', {
        'a.test': `$GENERATE 0-4999 h$ TXT "${'x'.repeat(240)}"`,
      }),
      message: /its records take more than 1048576 bytes$/,
    },
  ]
  for (const { name, value, message } of wrong) {
    test(`is refused with ${name}`, () => {
      assert.match(problemOf(value), message)
    })
  }

  test('is parsed in steps, whatever it has', () => {
    const texts: [form: string, text: string][] = [
      ['zone', '$GENERATE 0-4999 h$ 60 A 192.0.2.1'],
      ['zone', 'h 60 A 192.0.2.1\n'.repeat(5000)],
      ['hosts', '192.0.2.1 h.a.test\n'.repeat(5000)],
      ['hosts', '\n'.repeat(100_000)],
      ['hosts', `192.0.2.1 ${'h.a.test '.repeat(5000)}`],
    ]
    for (const [form, text] of texts) {
      let steps = 0
      for (const _ of parseInSteps(configMap(form, { 'a.test': text }))) steps++
      assert.ok(steps > 100, `${text.slice(0, 30)}: ${steps} steps`)
    }
  })

  test('without the label gives no names', () => {
    const value = parse('{ kind: ConfigMap, metadata: { name: a }, data: { x: y } }')
    assert.equal(parseObject(value), undefined)
  })
})
