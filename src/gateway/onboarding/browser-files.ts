/**
 * The kit's policies for browsers: both use the gateway first and the system's resolver for names
 * that it refuses.
 * @module
 */
import type { Kit, KitFile } from './kit-file.ts'

/** Returns the policies for Chrome, Edge, Chromium and Firefox. */
export function browserFiles({ dohUrl }: Kit): readonly KitFile[] {
  // chromeenterprise.google/policies: "automatic" falls back to the system, "secure" does not.
  const chromium = { DnsOverHttpsMode: 'automatic', DnsOverHttpsTemplates: `${dohUrl}{?dns}` }
  const firefox = {
    DNSOverHTTPS: { Enabled: true, ProviderURL: dohUrl, Fallback: true },
    // Firefox distrusts private addresses of a server, which clusters have.
    Preferences: { 'network.trr.allow-rfc1918': { Value: true, Status: 'default' } },
  }
  return [
    { name: 'chromium-policies.json', type: 'application/json', text: formatJson(chromium) },
    { name: 'chrome-edge.reg', type: 'text/plain', text: formatRegistry(chromium) },
    {
      name: 'firefox-policies.json',
      type: 'application/json',
      text: formatJson({ policies: firefox }),
    },
  ]
}

function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function formatRegistry(policies: Readonly<Record<string, string>>): string {
  const values = Object.entries(policies).map(([name, value]) => `"${name}"="${value}"`)
  const keys = ['Google\\Chrome', 'Microsoft\\Edge'].flatMap((browser) => [
    '',
    `[HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\${browser}]`,
    ...values,
  ])
  return ['Windows Registry Editor Version 5.00', ...keys, ''].join('\r\n')
}
