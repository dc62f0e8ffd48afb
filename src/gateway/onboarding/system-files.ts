/**
 * The kit's files for operating systems.
 * @module
 */

import { sha256Hex } from '../../snapshot/format/signature.ts'
import type { Kit, KitFile } from './kit-file.ts'

/** The host of a URL that is an address: `URL` writes IPv4 with decimal digits. */
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/

/** Returns the files for Apple's systems, Windows and Linux. */
export async function systemFiles(kit: Kit): Promise<readonly KitFile[]> {
  return [
    {
      name: 'apple.mobileconfig',
      type: 'application/x-apple-aspen-config',
      text: formatProfile(kit, await uuidOf(`${kit.origin} profile`), await uuidOf(kit.origin)),
    },
    { name: 'windows.ps1', type: 'text/plain', text: formatScript(kit).replaceAll('\n', '\r\n') },
    { name: 'kubedoh-connect.service', type: 'text/plain', text: formatUnit(kit) },
    {
      name: 'kubedoh-connect.env',
      type: 'text/plain',
      text: `KUBEDOH_CLIENT_TOKEN=${kit.token}\n`,
    },
  ]
}

/** Returns a UUID of version 8 (RFC 9562 §5.8): a device replaces the profile that has the same. */
async function uuidOf(text: string): Promise<string> {
  const hex = await sha256Hex(new TextEncoder().encode(text))
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-').toUpperCase()
}

/** See Apple's `mdm/profiles/com.apple.dnsSettings.managed.yaml`. */
function formatProfile({ dohUrl, domains, host }: Kit, outer: string, inner: string): string {
  const strings = domains.map((domain) => `\t\t\t\t\t<string>${domain}</string>\n`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
\t<key>PayloadContent</key>
\t<array>
\t\t<dict>
\t\t\t<key>DNSSettings</key>
\t\t\t<dict>
\t\t\t\t<key>DNSProtocol</key>
\t\t\t\t<string>HTTPS</string>
\t\t\t\t<key>ServerURL</key>
\t\t\t\t<string>${dohUrl}</string>
\t\t\t\t<key>SupplementalMatchDomains</key>
\t\t\t\t<array>
${strings}\t\t\t\t</array>
\t\t\t</dict>
\t\t\t<key>PayloadDisplayName</key>
\t\t\t<string>DNS over HTTPS by ${host}</string>
\t\t\t<key>PayloadIdentifier</key>
\t\t\t<string>kubedoh.${host}.dns</string>
\t\t\t<key>PayloadType</key>
\t\t\t<string>com.apple.dnsSettings.managed</string>
\t\t\t<key>PayloadUUID</key>
\t\t\t<string>${inner}</string>
\t\t\t<key>PayloadVersion</key>
\t\t\t<integer>1</integer>
\t\t</dict>
\t</array>
\t<key>PayloadDescription</key>
\t<string>Resolves ${domains.join(', ')} by ${host}; all other names as before.</string>
\t<key>PayloadDisplayName</key>
\t<string>Names of ${domains.join(', ')}</string>
\t<key>PayloadIdentifier</key>
\t<string>kubedoh.${host}</string>
\t<key>PayloadScope</key>
\t<string>System</string>
\t<key>PayloadType</key>
\t<string>Configuration</string>
\t<key>PayloadUUID</key>
\t<string>${outer}</string>
\t<key>PayloadVersion</key>
\t<integer>1</integer>
</dict>
</plist>
`
}

/**
 * A rule of the Name Resolution Policy Table names the gateway's addresses; Windows upgrades
 * queries to them by the template. Runs again without harm, also after a change of the addresses.
 */
function formatScript({ dohUrl, domains, host, origin }: Kit): string {
  const namespaces = domains.map((domain) => `'.${domain}'`).join(', ')
  const addresses = ADDRESS.test(host)
    ? `@('${host.replace(/[[\]]/g, '')}')`
    : `@(Resolve-DnsName -Name '${host}' -Type A_AAAA |
        Where-Object { $_.IPAddress } | ForEach-Object { $_.IPAddress })`
  return `# Resolves ${domains.join(', ')} by DNS over HTTPS of ${host}; all other names as before.
# Windows 11 or Server 2022. Run it again when the gateway's addresses change. Undo: -Remove
#Requires -RunAsAdministrator
param([switch]$Remove)
$ErrorActionPreference = 'Stop'
$Comment = 'kubedoh ${host}'

Get-DnsClientNrptRule | Where-Object { $_.Comment -eq $Comment } |
    ForEach-Object { Remove-DnsClientNrptRule -Name $_.Name -Force }
Get-DnsClientDohServerAddress | Where-Object { $_.DohTemplate -and $_.DohTemplate.StartsWith('${origin}/') } |
    ForEach-Object { Remove-DnsClientDohServerAddress -ServerAddress $_.ServerAddress }

if (-not $Remove) {
    $Addresses = ${addresses}
    foreach ($Address in $Addresses) {
        Add-DnsClientDohServerAddress -ServerAddress $Address -DohTemplate '${dohUrl}' \`
            -AllowFallbackToUdp $false -AutoUpgrade $true
    }
    Add-DnsClientNrptRule -Namespace @(${namespaces}) -NameServers $Addresses -Comment $Comment
}
Clear-DnsClientCache
`
}

function formatUnit({ domains, host, origin }: Kit): string {
  const flags = domains.map((domain) => `--domain ${domain}`).join(' ')
  return `[Unit]
Description=Names of ${domains.join(', ')} by ${host}
Wants=network-online.target systemd-resolved.service
After=network-online.target systemd-resolved.service

[Service]
EnvironmentFile=/etc/kubedoh/connect.env
ExecStart=/usr/local/bin/kubedoh connect --gateway ${origin} ${flags}
Restart=on-failure
RestartSec=5
NoNewPrivileges=yes
ProtectHome=yes
ProtectSystem=full

[Install]
WantedBy=multi-user.target
`
}
