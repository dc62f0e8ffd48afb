/**
 * Files that `forward` reads for its upstreams, by path.
 * @module
 */

/** A resolv.conf with names that are no addresses, and one without a server. */
export const RESOLVER_FILES: Readonly<Record<string, string>> = {
  '/etc/resolv.conf': `# made by hand
nameserver 192.0.2.1
  nameserver\t2001:db8::1 ; the second
nameserver fe80::1%eth0
nameserver nosuch
search example.org
options ndots:5
`,
  'empty.conf': 'search example.org\n',
}
