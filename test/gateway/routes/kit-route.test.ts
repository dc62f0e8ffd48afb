import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { visibilityOf } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { clusterDomains } from '../../../src/gateway/routes/kit-route.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { CLIENT_TOKEN, clientSha256, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

describe('/t/TOKEN/kit', () => {
  test('has the profile of a token, to download and not to keep', async () => {
    const running = await Running.start()
    const scope = { ...WHOLE_SCOPE, origins: ['shop.example.org.'] }
    const { token, record } = await tokenRecord({ scope })
    await running.tokens.add(record)
    const response = await running.send(`/t/${token}/kit/apple.mobileconfig`, {})
    assert.equal(response.status, 200)
    assert.deepEqual(
      ['content-type', 'content-disposition', 'cache-control', 'referrer-policy'].map((name) =>
        response.headers.get(name),
      ),
      [
        'application/x-apple-aspen-config; charset=utf-8',
        'attachment; filename="apple.mobileconfig"',
        'no-store',
        'no-referrer',
      ],
    )
    const text = await response.text()
    assert.ok(text.includes(`<string>https://dns.example.org/t/${token}/dns-query</string>`))
    assert.ok(text.includes('<string>shop.example.org</string>'))
    assert.ok(!text.includes('cluster.local'))
  })

  test('begins with the README, also for a token in a header', async () => {
    const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
    const texts = [
      await running.send(`/t/${CLIENT_TOKEN}/kit`, {}),
      await running.get('/kit', CLIENT_TOKEN),
    ].map((response) => response.text())
    const [inPath, inHeader] = await Promise.all(texts)
    assert.match(inPath ?? '', /^# Names of shop\.example\.org, cluster\.local\n/)
    assert.equal(inHeader, inPath)
  })

  test('needs no token at a public gateway, and has none', async () => {
    const running = await Running.start({ PUBLIC: 'true' })
    const response = await running.send('/kit/chromium-policies.json', {})
    assert.match(await response.text(), /"https:\/\/dns\.example\.org\/dns-query\{\?dns\}"/)
  })

  test('says nothing of the issuers of jobs to the holder of a token', async () => {
    const issuer = 'https://token.actions.githubusercontent.com'
    const rules = [{ when: { repository: 'acme/shop' }, namespaces: ['*'] }]
    const running = await Running.start({
      CLIENT_TOKEN_SHA256: clientSha256,
      ISSUERS: JSON.stringify([{ issuer, audiences: ['jobs'], rules }]),
      EXCHANGE_KEY: (await generateKeyPair()).privateKey,
    })
    const get = (file: string): Promise<Response> =>
      running.send(`/t/${CLIENT_TOKEN}/kit/${file}`, {})
    assert.equal((await get('kubedoh-token.sh')).status, 404)
    assert.match(await (await get('action.yml')).text(), /required: true/)
  })

  for (const [what, path, status, code] of [
    ['an unknown file', `/t/${CLIENT_TOKEN}/kit/id_rsa`, 404, 'not_found'],
    ['a wrong token', '/t/wrong/kit', 401, 'unauthorized'],
    ['no token', '/kit', 401, 'unauthorized'],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
      const response = await running.send(path, {})
      assert.equal(response.status, status)
      assert.match(await response.text(), new RegExp(`"code":"${code}"`))
    })
  }

  test('refuses a gateway without TLS, without the token in its message', async () => {
    const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
    const url = `http://127.0.0.1:8787/t/${CLIENT_TOKEN}/kit`
    const response = await running.app.request(url)
    assert.equal(response.status, 400)
    const text = await response.text()
    assert.match(text, /"code":"no_kit","message":"\\"http:\/\/127.0.0.1:8787\\" is not a URL/)
    assert.ok(!text.includes(CLIENT_TOKEN))
  })
})

test('the domains are those of clusters, each once, without reverse zones', async () => {
  const config = await readGatewayConfig({
    COREFILE:
      'a.test 10.in-addr.arpa {\n kubernetes {\n  cluster prod\n }\n k8s_external b.test {\n  cluster prod\n }\n}\n' +
      'a.test:54 c.test:54 {\n k8s_gateway {\n  cluster lab\n }\n}\nwww.gstatic.com {\n forward . 192.0.2.1\n}\n' +
      'd.test {\n kubernetes {\n  cluster prod stage\n }\n}\n',
  })
  const domainsOf = clusterDomains(config)
  const see = (clusters: readonly string[]): unknown =>
    domainsOf(visibilityOf({ ...WHOLE_SCOPE, clusters }))
  assert.deepEqual(domainsOf(undefined), ['a.test', 'b.test', 'c.test', 'd.test'])
  assert.deepEqual(see(['prod']), ['a.test', 'b.test', 'd.test'])
  assert.deepEqual(see(['stage']), ['d.test'])
  assert.deepEqual(see(['lab']), ['a.test', 'c.test'])
})

test('the domain of clusters with zones of their own is that of all, or those that are seen', async () => {
  const cluster = { publicKey: (await keys()).publicKeyText, tokenSha256: '0'.repeat(64) }
  const config = await readGatewayConfig({
    COREFILE: '. {\n kubernetes *.k8s.test {\n  cluster *\n }\n}\n',
    CLUSTERS: JSON.stringify({ prod: cluster, lab: cluster }),
  })
  const domainsOf = clusterDomains(config)
  const see = (clusters: readonly string[]): unknown =>
    domainsOf(visibilityOf({ ...WHOLE_SCOPE, clusters }))
  assert.deepEqual(domainsOf(undefined), ['k8s.test'])
  assert.deepEqual(see(['*']), ['k8s.test'])
  assert.deepEqual(see(['lab']), ['lab.k8s.test'])
  assert.deepEqual(see(['none']), [])
})
