/**
 * The Corefiles of docs/devices.md do what the page says.
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { serve } from '../ask.ts'
import { read, section } from './pages.ts'

const PAGE = read('docs/devices.md')

test('the block for resolver.arpa designates a server, and its name has an HTTPS record', async () => {
  const [, corefile = ''] = /```\n([\s\S]*?)```/.exec(section(PAGE, '## Discovery')) ?? []
  const server = serve(corefile)
  const designated = await server.ask('_dns.resolver.arpa SVCB')
  assert.deepEqual(designated.slice(1), [
    '_dns.resolver.arpa. 300 IN SVCB 1 dns.example.org. alpn="h2" dohpath="/dns-query{?dns}"',
    'additional: dns.example.org. 300 IN A 192.0.2.53',
  ])
  for (const question of ['_dns.resolver.arpa A', 'resolver.arpa SVCB']) {
    assert.match((await server.ask(question)).join(), /^NOERROR aa[^,]*$/)
  }
  const [, record] = await server.ask('dns.example.org HTTPS')
  assert.equal(record, 'dns.example.org. 300 IN HTTPS 1 . alpn="h2"')
})

test('the block for the probes is the one in wrangler.toml', () => {
  const [, block = ''] = /```\n([\s\S]*?)```/.exec(section(PAGE, '## Browsers')) ?? []
  const lines = block.trimEnd().split('\n')
  for (const line of lines) assert.ok(read('wrangler.toml').includes(line), line)
})
