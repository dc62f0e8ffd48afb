import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsIn, serve } from '../../../ask.ts'
import { APEX } from './zones.ts'

const A = (name: string, address = '192.0.2.1'): string => `${name}. 3600 IN A ${address}`

describe('file', () => {
  const files = {
    db: `${APEX}www A 192.0.2.1`,
    other: `${APEX}www A 192.0.2.2`,
    '/zones/db': `${APEX}www A 192.0.2.3`,
  }
  const cases: { name: string; corefile: string; ask: string; answer: string[] }[] = [
    {
      name: 'serves the zones of the server block',
      corefile: 'example.org example.net {\n file db\n}',
      ask: 'www.example.net A',
      answer: [A('www.example.net')],
    },
    {
      name: 'serves the zones that are named',
      corefile: block('file db example.org example.net'),
      ask: 'www.example.net A',
      answer: [A('www.example.net')],
    },
    {
      name: 'serves several files',
      corefile: block('file db example.org', 'file other sub.example.org'),
      ask: 'www.sub.example.org A',
      answer: [A('www.sub.example.org', '192.0.2.2')],
    },
    {
      name: 'takes the last file for a zone',
      corefile: block('file db example.org', 'file other Example.Org'),
      ask: 'www.example.org A',
      answer: [A('www.example.org', '192.0.2.2')],
    },
    {
      name: 'looks for relative paths below "root"',
      corefile: block('root /zones', 'file db example.org', 'file /zones/db example.net'),
      ask: 'www.example.org A',
      answer: [A('www.example.org', '192.0.2.3')],
    },
    {
      name: 'reads "upstream", which does nothing',
      corefile: block(directive('file db example.org', 'upstream 192.0.2.9')),
      ask: 'www.example.org A',
      answer: [A('www.example.org')],
    },
  ]
  for (const { name, corefile, ask, answer } of cases) {
    test(name, async () => {
      const [, ...lines] = await serve(corefile, { files }).ask(ask)
      assert.deepEqual(
        lines.filter((line) => !line.startsWith('authority')),
        answer,
      )
    })
  }
})

describe('file reloads', () => {
  const reloads: { name: string; lines: string[]; afterMs: number; isRead: boolean }[] = [
    { name: 'not before a minute', lines: ['file db example.org'], afterMs: 59_999, isRead: false },
    { name: 'after a minute', lines: ['file db example.org'], afterMs: 60_000, isRead: true },
    {
      name: 'as often as configured',
      lines: [directive('file db example.org', 'reload 5s')],
      afterMs: 5000,
      isRead: true,
    },
    {
      name: 'never when configured so',
      lines: [directive('file db example.org', 'reload 0')],
      afterMs: 3_600_000,
      isRead: false,
    },
    {
      name: 'as often as configured in a directive before',
      lines: [directive('file db example.net', 'reload 5s'), 'file db example.org'],
      afterMs: 5000,
      isRead: true,
    },
    {
      name: 'no more often than configured, whatever a directive after says',
      lines: ['file db example.org', directive('file db example.net', 'reload 5s')],
      afterMs: 5000,
      isRead: false,
    },
    {
      name: 'by time when configured so',
      lines: [directive('file db example.org', 'reload_by_mtime', 'reload 5s')],
      afterMs: 5000,
      isRead: true,
    },
  ]
  for (const { name, lines, afterMs, isRead } of reloads) {
    test(name, async () => {
      const server = serve(block(...lines), { files: { db: APEX } })
      server.resolver.start()
      server.host.files.set('db', `${APEX.replace(' 7 ', ' 8 ')}www A 192.0.2.1`)
      await server.host.advance(afterMs)
      const [head] = await server.ask('www.example.org A')
      assert.equal(head, isRead ? 'NOERROR aa rd' : 'NXDOMAIN aa rd')
      server.resolver.stop()
      assert.equal(server.host.timerCount, 0)
    })
  }
})

describe('file without its file', () => {
  test('warns, and waits for it', async () => {
    const server = serve(block('file db example.org'))
    await server.prepared
    server.resolver.start()
    assert.deepEqual(server.host.events, [
      {
        level: 'warning',
        message: 'cannot read a zone file yet',
        reason: 'no such file',
        zone: 'example.org.',
        file: 'db',
      },
    ])
    server.host.files.set('db', `${APEX}www A 192.0.2.1`)
    await server.host.advance(60_000)
    assert.equal((await server.ask('www.example.org A'))[0], 'NOERROR aa rd')
  })

  test('is refused when it is never looked for again', async () => {
    assert.deepEqual(await problemsIn(block(directive('file db example.org', 'reload 0'))), [
      'Corefile:2:8: cannot read zone file "db": no such file',
    ])
  })
})

describe('file refuses', () => {
  const cases: { name: string; lines: string[]; db?: string; problem: string }[] = [
    {
      name: 'no file',
      lines: ['file'],
      problem: 'Corefile:2:3: "file" needs the path of a zone file',
    },
    {
      name: 'an invalid zone',
      lines: ['file db a..b'],
      problem: 'Corefile:2:11: "a..b" is not a domain name',
    },
    {
      name: 'reload without a duration',
      lines: [directive('file db', 'reload')],
      problem: 'Corefile:3:5: "reload" takes 1 or more argument(s), got 0',
    },
    {
      name: 'an invalid duration',
      lines: [directive('file db', 'reload 5')],
      problem: 'Corefile:3:12: "5" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'other options',
      lines: [directive('file db', 'fallthru')],
      problem:
        'Corefile:3:5: "file" has no option "fallthru"; it has reload, reload_by_mtime, fallthrough, answers',
    },
    {
      name: 'a file that is wrong, where it is',
      lines: ['file db example.org'],
      db: `${APEX}www A 192.0.2.300`,
      problem: 'db:4:7: the address of a A record is "192.0.2.300", expected an IPv4 address',
    },
    {
      name: 'a file without an SOA record',
      lines: ['file db example.org'],
      db: 'www 1 A 192.0.2.1',
      problem: 'Corefile:2:8: "db": zone "example.org." has no SOA record',
    },
  ]
  for (const { name, lines, db = APEX, problem } of cases) {
    test(name, async () => {
      assert.deepEqual(await problemsIn(block(...lines), { files: { db } }), [problem])
    })
  }
})
