import assert from 'node:assert/strict'
import { test } from 'vitest'
import { kitFiles, readKit } from '../../../src/gateway/onboarding/kit.ts'

const URL = 'https://dns.example.net/t/kdt_1_a/dns-query'
const files = await kitFiles(readKit('https://dns.example.net', 'kdt_1_a', ['a.test']))
const textOf = (name: string): string => files.find((file) => file.name === name)?.text ?? ''

test('Chromium uses the gateway first and falls back', () => {
  assert.deepEqual(JSON.parse(textOf('chromium-policies.json')), {
    DnsOverHttpsMode: 'automatic',
    DnsOverHttpsTemplates: `${URL}{?dns}`,
  })
})

test('the registry file sets the same for Chrome and Edge', () => {
  assert.deepEqual(textOf('chrome-edge.reg').split('\r\n'), [
    'Windows Registry Editor Version 5.00',
    '',
    '[HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Google\\Chrome]',
    '"DnsOverHttpsMode"="automatic"',
    `"DnsOverHttpsTemplates"="${URL}{?dns}"`,
    '',
    '[HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Edge]',
    '"DnsOverHttpsMode"="automatic"',
    `"DnsOverHttpsTemplates"="${URL}{?dns}"`,
    '',
  ])
})

test('Firefox takes private addresses from the gateway', () => {
  assert.deepEqual(JSON.parse(textOf('firefox-policies.json')), {
    policies: {
      DNSOverHTTPS: { Enabled: true, ProviderURL: URL, Fallback: true },
      Preferences: { 'network.trr.allow-rfc1918': { Value: true, Status: 'default' } },
    },
  })
})
