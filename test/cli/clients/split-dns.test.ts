import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatSteps, planSplit, type SplitDnsSystem } from '../../../src/cli/clients/split-dns.ts'

const DOMAINS = ['prod.example.org', '10.in-addr.arpa']

/** The commands and files as they are, for each system. */
const GOLDEN: Readonly<Record<SplitDnsSystem, { set: string; undo: string }>> = {
  linux: {
    set: `ip link add kubedoh0 type dummy
ip address add 192.0.0.8/32 dev kubedoh0
ip link set kubedoh0 up
resolvectl dns kubedoh0 127.0.0.1:5300
resolvectl domain kubedoh0 "~prod.example.org" "~10.in-addr.arpa"
resolvectl default-route kubedoh0 false
resolvectl dnssec kubedoh0 no
resolvectl dnsovertls kubedoh0 no
`,
    undo: `resolvectl revert kubedoh0
ip link delete kubedoh0
`,
  },
  macos: {
    set: `mkdir -p /etc/resolver
cat > /etc/resolver/prod.example.org <<'END'
# Written by kubedoh connect, which removes it when it ends.
nameserver 127.0.0.1
port 5300
END
cat > /etc/resolver/10.in-addr.arpa <<'END'
# Written by kubedoh connect, which removes it when it ends.
nameserver 127.0.0.1
port 5300
END
dscacheutil -flushcache
killall -HUP mDNSResponder
`,
    undo: `rm /etc/resolver/prod.example.org
rm /etc/resolver/10.in-addr.arpa
dscacheutil -flushcache
killall -HUP mDNSResponder
`,
  },
  windows: {
    set: `powershell.exe -NoProfile -NonInteractive -Command "Add-DnsClientNrptRule -Namespace '.prod.example.org','.10.in-addr.arpa' -NameServers '127.0.0.1' -Comment 'kubedoh connect'"
powershell.exe -NoProfile -NonInteractive -Command Clear-DnsClientCache
`,
    undo: `powershell.exe -NoProfile -NonInteractive -Command "Get-DnsClientNrptRule | Where-Object Comment -eq 'kubedoh connect' | Remove-DnsClientNrptRule -Force"
powershell.exe -NoProfile -NonInteractive -Command Clear-DnsClientCache
`,
  },
  none: { set: '', undo: '' },
}

describe('planSplit', () => {
  for (const system of ['linux', 'macos', 'windows', 'none'] as const) {
    test(`has the commands and files of ${system}`, () => {
      const plan = planSplit({ system, domains: DOMAINS, address: '127.0.0.1', port: 5300 })
      assert.equal(formatSteps(plan.set), GOLDEN[system].set)
      assert.equal(formatSteps(plan.undo), GOLDEN[system].undo)
    })
  }

  test('puts an IPv6 address with a port into brackets', () => {
    const { set } = planSplit({ system: 'linux', domains: DOMAINS, address: '::1', port: 53 })
    assert.ok(formatSteps(set).includes('\nresolvectl dns kubedoh0 [::1]:53\n'))
  })
})
