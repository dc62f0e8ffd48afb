import assert from 'node:assert/strict'
import { test } from 'vitest'
import { kitFiles, readKit } from '../../../src/gateway/onboarding/kit.ts'

const DOMAINS = ['prod.example.org', 'lab.test']

async function textOf(name: string, token = 'kdt_1_a'): Promise<string> {
  const files = await kitFiles(readKit('https://dns.example.net:8443', token, DOMAINS))
  return files.find((file) => file.name === name)?.text ?? ''
}

test('the profile for Apple devices replaces the one of another token, but of no other gateway', async () => {
  const uuids = (text: string): unknown =>
    [...text.matchAll(/<string>([0-9A-F-]{36})</g)].map(([, uuid = '']) => uuid)
  const profile = await textOf('apple.mobileconfig')
  assert.deepEqual(uuids(profile), uuids(await textOf('apple.mobileconfig', 'kdt_2_b')))
  const [inner, outer] = uuids(profile) as readonly string[]
  assert.notEqual(inner, outer)
  for (const one of [inner, outer]) {
    assert.match(one ?? '', /^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-8[0-9A-F]{3}-[0-9A-F]{12}$/)
  }
})

/** No PowerShell runs the tests, so a person has read this text, and the test holds it. */
test('the script for Windows is the text that was compared with the documentation of its cmdlets', async () => {
  const lines = (await textOf('windows.ps1')).split('\r\n')
  assert.deepEqual(lines, [
    '# Resolves prod.example.org, lab.test by DNS over HTTPS of dns.example.net; all other names as before.',
    "# Windows 11 or Server 2022. Run it again when the gateway's addresses change. Undo: -Remove",
    '#Requires -RunAsAdministrator',
    'param([switch]$Remove)',
    "$ErrorActionPreference = 'Stop'",
    "$Comment = 'kubedoh dns.example.net'",
    '',
    'Get-DnsClientNrptRule | Where-Object { $_.Comment -eq $Comment } |',
    '    ForEach-Object { Remove-DnsClientNrptRule -Name $_.Name -Force }',
    "Get-DnsClientDohServerAddress | Where-Object { $_.DohTemplate -and $_.DohTemplate.StartsWith('https://dns.example.net:8443/') } |",
    '    ForEach-Object { Remove-DnsClientDohServerAddress -ServerAddress $_.ServerAddress }',
    '',
    'if (-not $Remove) {',
    "    $Addresses = @(Resolve-DnsName -Name 'dns.example.net' -Type A_AAAA |",
    '        Where-Object { $_.IPAddress } | ForEach-Object { $_.IPAddress })',
    '    foreach ($Address in $Addresses) {',
    "        Add-DnsClientDohServerAddress -ServerAddress $Address -DohTemplate 'https://dns.example.net:8443/t/kdt_1_a/dns-query' `",
    '            -AllowFallbackToUdp $false -AutoUpgrade $true',
    '    }',
    "    Add-DnsClientNrptRule -Namespace @('.prod.example.org', '.lab.test') -NameServers $Addresses -Comment $Comment",
    '}',
    'Clear-DnsClientCache',
    '',
  ])
})

for (const host of ['192.0.2.5', '[2001:db8::5]']) {
  test(`the script for Windows resolves no address: ${host}`, async () => {
    const files = await kitFiles(readKit(`https://${host}`, '', DOMAINS))
    const text = files.find(({ name }) => name === 'windows.ps1')?.text ?? ''
    assert.ok(text.includes(`    $Addresses = @('${host.replace(/[[\]]/g, '')}')\r\n`))
    assert.doesNotMatch(text, /Resolve-DnsName|-like/)
  })
}

test('the unit runs connect for all domains and reads the token from its file', async () => {
  const unit = await textOf('kubedoh-connect.service')
  const command = 'kubedoh connect --gateway https://dns.example.net:8443'
  assert.ok(unit.includes(`/${command} --domain prod.example.org --domain lab.test\n`))
  assert.match(unit, /^EnvironmentFile=\/etc\/kubedoh\/connect\.env$/m)
  assert.equal(await textOf('kubedoh-connect.env'), 'KUBEDOH_CLIENT_TOKEN=kdt_1_a\n')
})
