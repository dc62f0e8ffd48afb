import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { START_MS } from '../../../fake-host.ts'

describe('the hosts file', () => {
  const files = { '/etc/hosts': '192.0.2.5 a.example.org\n', 'my.hosts': '192.0.2.6 a.example.org' }
  const cases: { name: string; line: string; addresses: string[] }[] = [
    { name: 'is /etc/hosts', line: 'hosts', addresses: ['192.0.2.5'] },
    { name: 'is the one that is named', line: 'hosts my.hosts', addresses: ['192.0.2.6'] },
    {
      name: 'comes before the lines in the Corefile',
      line: directive('hosts my.hosts', '192.0.2.7 a.example.org'),
      addresses: ['192.0.2.6', '192.0.2.7'],
    },
    {
      name: 'may be missing',
      line: directive('hosts other.hosts', '192.0.2.7 a.example.org'),
      addresses: ['192.0.2.7'],
    },
  ]
  for (const { name, line, addresses } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line), { files }).ask('a.example.org A'), [
        'NOERROR aa rd',
        ...addresses.map((address) => `a.example.org. 3600 IN A ${address}`),
      ])
    })
  }

  const reloads: { name: string; option: string; afterMs: number; address: string }[] = [
    { name: 'is not read again before 5 s', option: '', afterMs: 4999, address: '192.0.2.5' },
    { name: 'is read again after 5 s', option: '', afterMs: 5000, address: '192.0.2.55' },
    {
      name: 'is read again as often as configured',
      option: 'reload 1s',
      afterMs: 1000,
      address: '192.0.2.55',
    },
    {
      name: 'is read once when configured so',
      option: 'reload 0',
      afterMs: 60_000,
      address: '192.0.2.5',
    },
  ]
  for (const { name, option, afterMs, address } of reloads) {
    test(name, async () => {
      const server = serve(block(directive('hosts', option)), { files })
      server.resolver.start()
      server.host.files.set('/etc/hosts', '192.0.2.55 a.example.org')
      await server.host.advance(afterMs)
      assert.deepEqual(await server.ask('a.example.org A'), [
        'NOERROR aa rd',
        `a.example.org. 3600 IN A ${address}`,
      ])
      server.resolver.stop()
      assert.equal(server.host.timerCount, 0)
    })
  }

  test('is read only after it was written', async () => {
    const server = serve(block('hosts'), { files })
    server.resolver.start()
    await server.host.advance(60_000)
    assert.deepEqual(server.host.reads, ['/etc/hosts'])
    // A write that leaves the time as it was changes the size.
    server.host.files.set('/etc/hosts', '192.0.2.5 a.example.org b.example.org\n')
    server.host.files.writtenMs.set('/etc/hosts', START_MS - 86_400_000)
    await server.host.advance(5000)
    assert.equal(server.host.reads.length, 2)
  })

  test('that has a line over 64 KiB is read without that line, with a warning', async () => {
    const long = `192.0.2.9 ${'b '.repeat(40_000)}`
    const server = serve(block('hosts x'), { files: { x: `${long}\n192.0.2.5 a.example.org` } })
    assert.equal((await server.ask('a.example.org A'))[0], 'NOERROR aa rd')
    const [event] = server.host.events
    assert.equal(event?.message, 'ignored lines of a hosts file that are over 64 KiB')
    assert.equal(event?.lines, 1)
  })

  test('is read again and again, and kept while it is away, as CoreDNS does', async () => {
    const server = serve(block('hosts'), { files })
    server.resolver.start()
    server.host.files.delete('/etc/hosts')
    await server.host.advance(5000)
    assert.equal((await server.ask('a.example.org A'))[0], 'NOERROR aa rd')
    server.host.files.set('/etc/hosts', '192.0.2.56 a.example.org')
    await server.host.advance(5000)
    assert.deepEqual(await server.ask('a.example.org A'), [
      'NOERROR aa rd',
      'a.example.org. 3600 IN A 192.0.2.56',
    ])
  })
})

describe('the metrics of hosts', () => {
  test('count addresses of names and names of addresses, and report when the file was read', async () => {
    const files = { table: '192.0.2.1 a.test b.test\n192.0.2.2 *.c.test' }
    const server = serve(block(directive('hosts table', '192.0.2.3 d.test')), { files })
    await server.prepared
    server.resolver.start()
    const lines = (): string[] =>
      server.host.metrics
        .format()
        .match(/^coredns_hosts_.*$/gm)
        ?.map(String) ?? []
    const entries = 'coredns_hosts_entries{hostsfile="table"}'
    const read = 'coredns_hosts_reload_timestamp_seconds'
    assert.deepEqual(lines(), [`${entries} 7`, `${read} ${START_MS / 1000}`])
    await server.host.advance(5000)
    assert.deepEqual(lines(), [`${entries} 7`, `${read} ${START_MS / 1000}`])
    server.host.files.set('table', '')
    await server.host.advance(5000)
    assert.deepEqual(lines(), [`${entries} 2`, `${read} ${START_MS / 1000 + 10}`])
  })

  test('are absent without a file', async () => {
    const server = serve(block('hosts none'))
    await server.prepared
    assert.doesNotMatch(server.host.metrics.format(), /coredns_hosts/)
  })

  test('and a warning show that a file that the Corefile names cannot be read', async () => {
    const server = serve(block('hosts table'))
    const { host } = server
    const readable = (): string | undefined =>
      /^kubedoh_hosts_file_readable\{hostsfile="table"\} (.)$/m.exec(host.metrics.format())?.[1]
    const logged = (): string[] => host.events.splice(0).map(({ message }) => message)
    await server.prepared
    const lost = ['cannot read a hosts file; its names are not answered or stay as they were']
    assert.deepEqual([readable(), logged()], ['0', lost])
    server.resolver.start()
    await host.advance(60_000)
    assert.deepEqual(logged(), [])
    host.files.set('table', '192.0.2.1 a.test')
    await host.advance(5000)
    assert.deepEqual([readable(), logged()], ['1', ['a hosts file can be read again']])
    host.files.delete('table')
    await host.advance(5000)
    assert.deepEqual([readable(), logged()], ['0', lost])
    assert.equal((await server.ask('a.test A'))[0], 'NOERROR aa rd')
  })

  test('are none of /etc/hosts, which need not exist', async () => {
    const server = serve(block('hosts'))
    await server.prepared
    assert.deepEqual(server.host.events, [])
    assert.doesNotMatch(server.host.metrics.format(), /hosts/)
  })
})
