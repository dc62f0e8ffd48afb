/**
 * Rdata as zone files have it and as it stands on the wire, type by type.
 * @module
 */

/** One record's rdata, both ways. `written` is what we write, when that is not `text`. */
export type RdataCase = {
  readonly type: string
  readonly text: string
  readonly wire: string
  readonly written?: string
}

const example = '076578616d706c65036f726700'

/** Names are below the root when they have no final dot. */
export const RDATA: readonly RdataCase[] = [
  { type: 'CERT', text: 'PGP 1 8 AQID', written: '3 1 8 AQID', wire: '0003 0001 08 010203' },
  { type: 'CERT', text: '254 1 0 AQID', wire: '00fe 0001 00 010203' },
  { type: 'EUI48', text: '00-00-5e-00-53-2a', wire: '00005e00532a' },
  { type: 'EUI64', text: '00-00-5e-ef-10-00-00-2a', wire: '00005eef1000002a' },
  { type: 'NID', text: '10 0014:4fff:ff20:ee64', wire: '000a 00144fffff20ee64' },
  { type: 'L32', text: '10 10.1.2.0', wire: '000a 0a010200' },
  { type: 'LP', text: '10 example.org.', wire: `000a ${example}` },
  { type: 'A', text: '192.0.2.1', wire: 'c0000201' },
  { type: 'AAAA', text: '2001:db8::1', wire: '20010db8000000000000000000000001' },
  {
    type: 'AAAA',
    text: '2001:0DB8:0:0:0:0:0:1',
    written: '2001:db8::1',
    wire: '20010db8000000000000000000000001',
  },
  { type: 'NS', text: 'ns.example.org.', wire: `026e73${example}` },
  { type: 'NS', text: 'ns.example.org', written: 'ns.example.org.', wire: `026e73${example}` },
  { type: 'CNAME', text: 'Example.org.', wire: '074578616d706c65036f726700' },
  { type: 'CNAME', text: '.', wire: '00' },
  { type: 'CNAME', text: '@', written: '.', wire: '00' },
  { type: 'CNAME', text: '\\@.a\\.b.\\000.', wire: '014003612e62010000' },
  { type: 'PTR', text: 'example.org.', wire: example },
  { type: 'DNAME', text: 'example.org.', wire: example },
  {
    type: 'SOA',
    text: 'ns.example.org. host\\.master.example.org. 2024010101 7200 1800 4294967295 0',
    wire:
      `026e73${example} 0b686f73742e6d6173746572${example}` +
      '78a3f175 00001c20 00000708 ffffffff 00000000',
  },
  { type: 'MX', text: '10 mail.example.org.', wire: `000a 046d61696c${example}` },
  { type: 'MX', text: '0 .', wire: '0000 00' },
  { type: 'TXT', text: '"v=spf1 -all"', wire: '0b 763d73706631202d616c6c' },
  { type: 'TXT', text: '"a" "" "b c"', wire: '0161 00 03622063' },
  { type: 'TXT', text: 'bare words', written: '"bare" "words"', wire: '0462617265 05776f726473' },
  { type: 'TXT', text: '"\\"\\\\;()@\\000\\255"', wire: '08225c3b28294000ff' },
  { type: 'TXT', text: `"${'a'.repeat(255)}"`, wire: `ff${'61'.repeat(255)}` },
  {
    type: 'TXT',
    text: `"${'a'.repeat(300)}"`,
    written: `"${'a'.repeat(255)}" "${'a'.repeat(45)}"`,
    wire: `ff${'61'.repeat(255)} 2d${'61'.repeat(45)}`,
  },
  {
    type: 'SOA',
    text: 'a. b. 1 1h30m 2W 1d 5s',
    written: 'a. b. 1 5400 1209600 86400 5',
    wire: '016100 016200 00000001 00001518 00127500 00015180 00000005',
  },
  { type: 'SRV', text: '0 100 8080 web.example.org.', wire: `0000 0064 1f90 03776562${example}` },
  { type: 'HINFO', text: '"RFC8482" ""', wire: '0752464338343832 00' },
  { type: 'MINFO', text: 'a. b.', wire: '016100 016200' },
  { type: 'RP', text: 'a. .', wire: '016100 00' },
  { type: 'AFSDB', text: '1 a.', wire: '0001 016100' },
  { type: 'KX', text: '1 a.', wire: '0001 016100' },
  { type: 'PX', text: '10 a. b.', wire: '000a 016100 016200' },
  {
    type: 'NAPTR',
    text: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.org!" .',
    wire:
      '0064 000a 0175 074532552b736970' +
      '1b215e2e2a24217369703a696e666f406578616d706c652e6f726721 00',
  },
  {
    type: 'CAA',
    text: '0 issue "ca.example.org"',
    wire: '00 056973737565 63612e6578616d706c652e6f7267',
  },
  { type: 'CAA', text: '128 iodef ""', wire: '80 05696f646566' },
  { type: 'CAA', text: '0 issue ";"', wire: '00 056973737565 3b' },
  {
    type: 'URI',
    text: '10 1 "ftp://example.org/"',
    wire: '000a 0001 6674703a2f2f6578616d706c652e6f72672f',
  },
  { type: 'DS', text: '60485 5 1 2bb183af5f22', wire: 'ec45 05 01 2bb183af5f22' },
  {
    type: 'DS',
    text: '60485 5 1 2BB1 83AF 5F22',
    written: '60485 5 1 2bb183af5f22',
    wire: 'ec45 05 01 2bb183af5f22',
  },
  {
    type: 'DS',
    text: '60485 RSASHA1 1 2bb183af',
    written: '60485 5 1 2bb183af',
    wire: 'ec45 05 01 2bb183af',
  },
  {
    type: 'RRSIG',
    text: 'A 5 3 86400 20030322173103 20030220173103 2642 example.org. oJB1W6WN',
    wire: `0001 05 03 00015180 3e7c9dd7 3e5510d7 0a52 ${example} a090755ba58d`,
  },
  {
    type: 'RRSIG',
    text: 'TYPE65280 ECDSAP256SHA256 3 86400 1048354263 1045762263 2642 . oJB1 W6WN',
    written: 'TYPE65280 13 3 86400 20030322173103 20030220173103 2642 . oJB1W6WN',
    wire: 'ff00 0d 03 00015180 3e7c9dd7 3e5510d7 0a52 00 a090755ba58d',
  },
  // The example of RFC 4034 §4.3.
  {
    type: 'NSEC',
    text: 'host.example.org. A MX RRSIG NSEC TYPE1234',
    wire: `04686f7374${example} 0006 400100000003 041b ${'00'.repeat(26)}20`,
  },
  { type: 'NSEC', text: 'a.', wire: '016100' },
  { type: 'CSYNC', text: '66 3 A NS AAAA', wire: '00000042 0003 0004 60000008' },
  { type: 'CDS', text: '0 0 0 00', wire: '0000 00 00 00' },
  { type: 'ZONEMD', text: '1 1 1 febe3d4c', wire: '00000001 01 01 febe3d4c' },
  { type: 'SSHFP', text: '2 1 123456789abcdef6', wire: '02 01 123456789abcdef6' },
  { type: 'TLSA', text: '3 1 1 d2abde24', wire: '03 01 01 d2abde24' },
  { type: 'DNSKEY', text: '256 3 5 AQPSKmyn', wire: '0100 03 05 0103d22a6ca7' },
  {
    type: 'DNSKEY',
    text: '256 3 5 AQPS Kmyn',
    written: '256 3 5 AQPSKmyn',
    wire: '0100 03 05 0103d22a6ca7',
  },
  { type: 'HTTPS', text: '0 svc.example.org.', wire: `0000 03737663${example}` },
  {
    type: 'HTTPS',
    text: '1 . alpn=h2,h3 port=8443',
    written: '1 . alpn="h2,h3" port="8443"',
    wire: '0001 00 0001 0006 026832 026833 0003 0002 20fb',
  },
  {
    type: 'SVCB',
    text: '1 example.org. ipv4hint=192.0.2.1 alpn=dot',
    written: '1 example.org. alpn="dot" ipv4hint="192.0.2.1"',
    wire: `0001 ${example} 0001 0004 03646f74 0004 0004 c0000201`,
  },
  { type: 'A', text: '\\# 4 c0000201', written: '192.0.2.1', wire: 'c0000201' },
  { type: 'MX', text: '\\# 5 000A 0161 00', written: '10 a.', wire: '000a 016100' },
  { type: 'TYPE65280', text: '\\# 3 abcdef', wire: 'abcdef' },
  { type: 'TYPE65280', text: '\\# 0', wire: '' },
  { type: 'WKS', text: '\\# 5 c000020106', wire: 'c000020106' },
  // Fields that are there without having a text of their own.
  { type: 'DS', text: '\\# 4 ec450501', wire: 'ec450501' },
  { type: 'DNSKEY', text: '\\# 4 01000305', wire: '01000305' },
  { type: 'CAA', text: '\\# 4 0001 2d 61', written: '\\# 4 00012d61', wire: '00 012d 61' },
  { type: 'CAA', text: '\\# 2 0000', wire: '0000' },
]

/** Rdata that a zone file cannot have. */
export const BAD_RDATA: readonly {
  readonly name: string
  readonly type: string
  readonly text: string
}[] = [
  { name: 'a group too many', type: 'EUI48', text: '00-00-5e-00-53-2a-00' },
  { name: 'groups of the other identifier', type: 'NID', text: '10 00-00-5e-ef-10-00-00-2a' },
  { name: 'no rdata', type: 'A', text: '' },
  { name: 'an IPv6 address', type: 'A', text: '2001:db8::1' },
  { name: 'an IPv4 address', type: 'AAAA', text: '192.0.2.1' },
  { name: 'two addresses', type: 'A', text: '192.0.2.1 192.0.2.2' },
  { name: 'a name with an empty label', type: 'NS', text: 'a..b.' },
  { name: 'a name of no text', type: 'NS', text: '""' },
  { name: 'a name over 255 bytes', type: 'NS', text: `${`${'a'.repeat(63)}.`.repeat(4)}` },
  { name: 'two names', type: 'CNAME', text: 'a. b.' },
  { name: 'a number over 65535', type: 'MX', text: '65536 a.' },
  { name: 'a number below zero', type: 'MX', text: '-1 a.' },
  { name: 'a number in hexadecimal', type: 'MX', text: '0x10 a.' },
  { name: 'a preference alone', type: 'MX', text: '10' },
  { name: 'a number over 32 bits', type: 'SOA', text: 'a. b. 4294967296 1 1 1 1' },
  { name: 'four numbers', type: 'SOA', text: 'a. b. 1 1 1 1' },
  { name: 'six numbers', type: 'SOA', text: 'a. b. 1 1 1 1 1 1' },
  { name: 'no string', type: 'TXT', text: '' },
  { name: 'a string of 256 bytes', type: 'HINFO', text: `"${'a'.repeat(256)}" ""` },
  { name: 'a serial with a unit', type: 'SOA', text: 'a. b. 1h 1 1 1 1' },
  { name: 'an invalid date', type: 'RRSIG', text: 'A 8 1 1 20240230000000 1 1 . AQPS' },
  { name: 'an invalid type', type: 'NSEC', text: 'a. A BB' },
  { name: 'an escape over 255', type: 'TXT', text: '"\\256"' },
  { name: 'an escape of one digit', type: 'TXT', text: '"\\1a"' },
  { name: 'an escape of two digits', type: 'TXT', text: '"\\25"' },
  { name: 'one string', type: 'HINFO', text: 'cpu' },
  { name: 'flags over 255', type: 'CAA', text: '256 issue "a"' },
  { name: 'a tag with a dash', type: 'CAA', text: '0 is-sue "a"' },
  { name: 'an empty tag', type: 'CAA', text: '0 "" "a"' },
  { name: 'no value', type: 'CAA', text: '0 issue' },
  { name: 'half a byte', type: 'DS', text: '1 1 1 abc' },
  { name: 'no digest', type: 'DS', text: '1 1 1' },
  { name: 'bad base64', type: 'DNSKEY', text: '256 3 5 AQP' },
  { name: 'a bad parameter', type: 'SVCB', text: '1 . port=x' },
  { name: 'a type without a schema in words', type: 'WKS', text: '192.0.2.1 tcp smtp' },
  { name: 'opaque rdata that is too short', type: 'TYPE65280', text: '\\# 4 abcdef' },
  { name: 'opaque rdata that is too long', type: 'TYPE65280', text: '\\# 2 abcdef' },
  { name: 'opaque rdata with a leading zero', type: 'TYPE65280', text: '\\# 03 abcdef' },
  { name: 'opaque rdata without a length', type: 'TYPE65280', text: '\\#' },
  { name: 'opaque rdata that is not hexadecimal', type: 'TYPE65280', text: '\\# 1 xx' },
  { name: 'opaque rdata that is not of its type', type: 'A', text: '\\# 3 c00002' },
  { name: 'opaque rdata with a compressed name', type: 'MX', text: '\\# 4 000ac000' },
  // Its two pointers change its size by one byte up and one down.
  { name: 'opaque rdata with two pointers', type: 'PX', text: '\\# 6 0001c000c001' },
]
