import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, test } from 'vitest'
import { checkNdots, checkServer, checkUpstreams } from '../../../src/cli/doctor/doctor-dns.ts'
import { NO_FILES } from '../../../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../../../src/corefile/parse-corefile.ts'
import { freePort } from '../../free-port.ts'

describe('checkNdots', () => {
  const SEARCH = 'search shop.svc.cluster.local svc.cluster.local cluster.local\n'
  const cases: [name: string, text: string, isAutopath: boolean, state: string][] = [
    ['of a Pod', `${SEARCH}options ndots:5\n`, false, 'note'],
    ['of a Pod, with autopath', `${SEARCH}options ndots:5\n`, true, 'ok'],
    ['of a Pod with ndots 1', `${SEARCH}options timeout:1 ndots:1\n`, false, 'ok'],
    ['of a machine', 'nameserver 192.0.2.53\nsearch example.org\n', false, 'ok'],
    ['that is empty', '', false, 'ok'],
  ]
  for (const [name, text, isAutopath, state] of cases) {
    test(`a resolv.conf ${name}: ${state}`, () => {
      assert.equal(checkNdots(text, isAutopath).state, state)
    })
  }

  test('counts the queries in vain, of both families', () => {
    const { text, next } = checkNdots(`${SEARCH}options ndots:5\n`, false)
    assert.match(text, /costs 6 queries in vain$/)
    assert.match(next ?? '', /dnsConfig/)
  })
})

test('checkServer reports a server that is away for both transports', async () => {
  const port = await freePort()
  const found = await checkServer({ address: '127.0.0.1', port }, 'cluster.local')
  assert.deepEqual(
    found.map(({ state }) => state),
    ['problem', 'problem'],
  )
})

test('checkUpstreams asks over TCP where forward has force_tcp', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', (query) => {
      const response = Buffer.from(query)
      // Two bytes of length, two of the identifier, then the flag QR.
      response[4] = 0x80
      socket.end(response)
    })
  }).listen(0, '127.0.0.1')
  t.onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  const place = server.address()
  assert.ok(place !== null && typeof place === 'object')
  const forward = `forward . 127.0.0.1:${place.port}`
  for (const [options, state] of [
    ['{\n force_tcp\n}', 'ok'],
    ['', 'problem'],
  ]) {
    const blocks = parseCorefile(`. {\n${forward} ${options}\n}\n`, 'Corefile', NO_FILES)
    const found = await checkUpstreams({ blocks }, [])
    assert.deepEqual(
      found.map((one) => one.state),
      [state],
    )
  }
})
