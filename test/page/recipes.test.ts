import assert from 'node:assert/strict'
import { test } from 'vitest'
import { dohUrl, isSecure, recipesOf, SYSTEMS, systemOf } from '../../page/recipes.ts'
import { kitFiles, readKit } from '../../src/gateway/onboarding/kit.ts'

const PLACE = { origin: 'https://dns.example.org', token: 'kdt_ab_cd', domain: 'demo.test' }

test('every system has recipes over TLS, and only terminals without', () => {
  const plain = { ...PLACE, origin: 'http://127.0.0.1:8787' }
  for (const system of SYSTEMS) {
    assert.ok(recipesOf(system, PLACE).length > 0, system)
    assert.equal(recipesOf(system, plain).length > 0, system === 'Terminal', system)
  }
  assert.deepEqual([PLACE, plain].map(isSecure), [true, false])
})

test('recipes have the origin, the token and the domain', () => {
  assert.equal(dohUrl(PLACE), 'https://dns.example.org/t/kdt_ab_cd/dns-query')
  assert.equal(dohUrl({ ...PLACE, token: '' }), 'https://dns.example.org/dns-query')
  const [curl, resolve] = recipesOf('Terminal', PLACE)
  assert.equal(
    curl?.command,
    'curl -H "Authorization: Bearer kdt_ab_cd" "https://dns.example.org/resolve?name=SERVICE.NAMESPACE.svc.demo.test&type=A"',
  )
  assert.match(resolve?.command ?? '', /^curl --doh-url "https:\/\/dns\.example\.org\/t\/kdt_ab_cd/)
  const [connect] = recipesOf('Linux', PLACE)
  assert.match(connect?.command ?? '', /--gateway https:\/\/dns\.example\.org --domain demo\.test$/)
  assert.match(connect?.command ?? '', /^export KUBEDOH_CLIENT_TOKEN=kdt_ab_cd\nsudo -E kubedoh /)
  const [, powershell] = recipesOf('Windows', PLACE)
  assert.match(
    powershell?.command ?? '',
    /^\$env:KUBEDOH_CLIENT_TOKEN = "kdt_ab_cd"\nkubedoh connect /,
  )
})

test('recipes name files that the onboarding kit has', async () => {
  const files = await kitFiles(readKit(PLACE.origin, PLACE.token, [PLACE.domain]))
  const names = files.map(({ name }) => name)
  for (const system of SYSTEMS) {
    for (const { file } of recipesOf(system, PLACE)) {
      if (file !== undefined) assert.ok(names.includes(file), file)
    }
  }
})

test('browsers get policies: by their settings they would send every name', () => {
  for (const { file, command } of recipesOf('Browsers', PLACE)) {
    assert.notEqual(file, undefined)
    assert.equal(command, '')
  }
})

test('the system is that of the browser', () => {
  const agents = [
    'iPhone; CPU',
    'Linux; Android 16',
    'Windows NT 10.0',
    'Intel Mac OS X',
    'X11; Linux',
  ]
  assert.deepEqual(agents.map(systemOf), ['iOS', 'Android', 'Windows', 'macOS', 'Linux'])
})
