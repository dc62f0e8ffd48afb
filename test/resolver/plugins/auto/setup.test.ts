import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { settle } from '../../../fake-host.ts'
import { APEX, SOA } from '../file/zones.ts'

const FILES = {
  '/zones/db.example.org': `${APEX}www A 192.0.2.1\nout CNAME www.example.net.`,
  '/zones/db.sub.example.org': `${APEX}www A 192.0.2.2`,
  '/zones/other/db.example.com': `${APEX}www A 192.0.2.3`,
}
const AUTO = directive('auto', 'directory /zones')

describe('auto', () => {
  const cases: { name: string; corefile: string; ask: string; head: string; answer?: string }[] = [
    {
      name: 'serves the zone of a file',
      corefile: block(AUTO),
      ask: 'www.example.org A',
      head: 'NOERROR aa rd',
      answer: 'www.example.org. 3600 IN A 192.0.2.1',
    },
    {
      name: 'serves the longest zone above a name',
      corefile: block(AUTO),
      ask: 'www.sub.example.org A',
      head: 'NOERROR aa rd',
      answer: 'www.sub.example.org. 3600 IN A 192.0.2.2',
    },
    {
      name: 'denies other names',
      corefile: block(AUTO),
      ask: 'x.example.org A',
      head: 'NXDOMAIN aa rd',
      answer: SOA,
    },
    {
      name: 'refuses other zones when nothing follows',
      corefile: block(AUTO),
      ask: 'example.net A',
      head: 'REFUSED rd',
    },
    {
      name: 'leaves names outside of its zones to what follows',
      corefile: block(directive('auto sub.example.org', 'directory /zones'), 'whoami'),
      ask: 'www.example.org TXT',
      head: 'NOERROR aa rd',
    },
    {
      name: 'fails outside of its zones when nothing follows',
      corefile: block(directive('auto sub.example.org', 'directory /zones')),
      ask: 'www.example.org TXT',
      head: 'SERVFAIL rd',
    },
    {
      name: 'refuses transfers',
      corefile: block(AUTO),
      ask: 'example.org AXFR +tcp',
      head: 'REFUSED rd',
    },
    {
      name: 'looks for its folder below "root"',
      corefile: block('root /zones', directive('auto', 'directory other')),
      ask: 'www.example.com A',
      head: 'NOERROR aa rd',
    },
    {
      name: 'may have no folder',
      corefile: block('auto'),
      ask: 'www.example.org A',
      head: 'REFUSED rd',
    },
  ]
  for (const { name, corefile, ask, head, answer } of cases) {
    test(name, async () => {
      const [first, second] = await serve(corefile, { files: FILES }).ask(ask)
      assert.equal(first, head)
      if (answer !== undefined) assert.equal(second, answer)
    })
  }

  test('transfers its zones, and sends NOTIFY for each new or changed one', async () => {
    const transfer = directive('transfer', 'to * 192.0.2.9')
    const reloading = directive('auto', 'directory /zones', 'reload 5s')
    const server = serve(block(transfer, reloading), {
      files: FILES,
      upstream: () => ['NOERROR aa'],
    })
    assert.equal((await server.ask('example.org AXFR +tcp')).length, 6)
    server.resolver.start()
    await settle()
    server.host.files.set('/zones/db.example.net', APEX)
    server.host.files.set('/zones/db.example.org', APEX.replace(' 7 ', ' 8 '))
    await server.host.advance(5000)
    assert.deepEqual(
      server.host.asked.map(({ question }) => question.split(' ')[1]),
      ['example.org.', 'sub.example.org.', 'example.com.', 'example.net.', 'example.org.'],
    )
    server.resolver.stop()
    assert.equal(server.host.timerCount, 0)
  })
})
