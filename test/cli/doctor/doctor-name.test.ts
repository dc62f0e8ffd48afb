import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { runCli } from '../run-cli.ts'
import { startServer } from '../shop.ts'

const NAME = 'db.corp.example'
/** Upstreams by what they know of the name. */
const KNOWLEDGE = {
  inside: 'hosts {\n 192.0.2.7 db.corp.example\n }',
  other: 'hosts {\n 192.0.2.8 db.corp.example\n }',
  nothing: 'template ANY ANY {\n rcode NXDOMAIN\n }',
  empty: 'template ANY ANY {\n rcode NOERROR\n }',
  refuses: 'template ANY ANY {\n rcode REFUSED\n }',
} as const
type Known = keyof typeof KNOWLEDGE | 'away'

async function upstream(t: TestContext, known: Known): Promise<string> {
  if (known === 'away') return `127.0.0.1:${await freePort()}`
  const Corefile = `. {\n bind 127.0.0.1\n ${KNOWLEDGE[known]}\n}\n`
  const { port } = await startServer(t, {}, { Corefile })
  return `127.0.0.1:${port}`
}

async function doctor(
  t: TestContext,
  corefile: string,
  name: string = NAME,
): Promise<{ readonly lines: string[]; readonly status: number }> {
  const conf = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
  const { stdout, status } = await runCli(['doctor', '--conf', conf, '--name', name])
  const lines = stdout.split('\n').filter((line) => /^\w+ +name /.test(line))
  return { lines: lines.map((line) => line.replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER')), status }
}

describe('kubedoh doctor --name', () => {
  const cases: [first: Known, second: Known, policy: string, line: RegExp, status: number][] = [
    ['inside', 'inside', 'random', /^ok +name +2 upstreams answer db\.corp\.example\. A alike/, 0],
    [
      'inside',
      'nothing',
      'random',
      /^problem +name +upstreams disagree about db\.corp\.example\. A: SERVER answers 192\.0\.2\.7; SERVER answers NXDOMAIN$/,
      1,
    ],
    [
      'inside',
      'empty',
      'random',
      /^problem +name .*answers 192\.0\.2\.7; SERVER answers NODATA$/,
      1,
    ],
    ['inside', 'refuses', 'round_robin', /^problem +name .*; SERVER answers REFUSED$/, 1],
    ['inside', 'nothing', 'sequential', /^note +name +upstreams disagree about /, 0],
    [
      'inside',
      'other',
      'random',
      /^note +name +upstreams differ in .* 192\.0\.2\.7; .* 192\.0\.2\.8$/,
      0,
    ],
    ['nothing', 'nothing', 'random', /^ok +name +2 upstreams answer .* alike: NXDOMAIN$/, 0],
    [
      'inside',
      'away',
      'random',
      /^ok +name +SERVER answers 192\.0\.2\.7 to db\.corp\.example\. A$/,
      1,
    ],
  ]
  for (const [first, second, policy, line, status] of cases) {
    test(`${first} and ${second}, ${policy}: status ${status}`, async (t) => {
      const servers = `${await upstream(t, first)} ${await upstream(t, second)}`
      const corefile = `. {\n forward . ${servers} {\n policy ${policy}\n }\n}\n`
      const found = await doctor(t, corefile)
      assert.match(found.lines[0] ?? '', line)
      assert.equal(found.status, status)
    })
  }

  test('asks the upstreams of the server block that gets the name', async (t) => {
    const [inside, nothing] = [await upstream(t, 'inside'), await upstream(t, 'nothing')]
    const corefile = `corp.example {\n forward . ${inside}\n}\n. {\n forward . ${nothing}\n}\n`
    const [line] = (await doctor(t, corefile)).lines
    assert.match(line ?? '', /^ok +name +SERVER answers 192\.0\.2\.7 to db\.corp\.example\. A$/)
    const other = await doctor(t, corefile, 'www.example.org.')
    assert.match(
      other.lines[0] ?? '',
      /^ok +name +SERVER answers NXDOMAIN to www\.example\.org\. A$/,
    )
  })

  test('respects FROM and except of forward', async (t) => {
    const [inside, nothing] = [await upstream(t, 'inside'), await upstream(t, 'nothing')]
    const corefile = `. {\n forward example.org ${nothing}\n forward . ${nothing} {\n except example\n }\n forward corp.example ${inside}\n}\n`
    const { lines } = await doctor(t, corefile)
    assert.equal(lines.length, 2)
    assert.match(lines[0] ?? '', /^ok +name +SERVER answers 192\.0\.2\.7 to /)
  })

  test('reports one difference of several types once', async (t) => {
    const servers = `${await upstream(t, 'inside')} ${await upstream(t, 'nothing')}`
    const { lines } = await doctor(t, `. {\n forward . ${servers}\n}\n`)
    assert.equal(lines.length, 1)
  })

  test('says that no forward takes a name', async (t) => {
    const { lines, status } = await doctor(t, 'example.org {\n forward . 192.0.2.1\n}\n')
    assert.match(lines[0] ?? '', /^ok +name +no forward of the Corefile takes db\.corp\.example\.$/)
    assert.equal(status, 1, 'the upstream of example.org is away')
  })

  test('asks for PTR records of a reverse name', async (t) => {
    const server = await upstream(t, 'inside')
    const { lines } = await doctor(t, `. {\n forward . ${server}\n}\n`, '7.2.0.192.in-addr.arpa')
    assert.equal(lines.length, 1)
    assert.match(
      lines[0] ?? '',
      /answers db\.corp\.example\. to 7\.2\.0\.192\.in-addr\.arpa\. PTR$/,
    )
  })

  test('refuses what is no name', async () => {
    const { status, stderr } = await runCli(['doctor', '--name', 'a..b'])
    assert.equal(status, 1)
    assert.equal(stderr, 'kubedoh: --name "a..b" is not a domain name\n')
  })
})
