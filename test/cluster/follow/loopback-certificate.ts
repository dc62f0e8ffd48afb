/**
 * A certificate for 127.0.0.1 that clients trust by a setting only; its key is public.
 * Made by `openssl ca -selfsign`, valid from 2020 to 2120.
 * @module
 */

/** The certificate, which is its own authority. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBYjCCAQigAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxrdWJlZG9o
LXRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDGt1YmVkb2gtdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDyBOsXd
zdhfVy5N/arHlQy4URtpy9/6rOFj/0bfT6+rl+APsgop0MwYAPOOeniwoAOE0n1/
4bg/TFsChOnU5hajQzBBMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAA
ATAdBgNVHQ4EFgQUsKkWOc2UyH1xSTdBB2p3HkRYCZEwCgYIKoZIzj0EAwIDSAAw
RQIgPsQRVx3KM+k3Iv+MES40igkqaSuaOIabw9Qja+XwN+wCIQD7rXOcm5xF3Hi/
OuV3MEG1kskU4xYpLdDRjr7XFOwQKA==
-----END CERTIFICATE-----
`

/** Its key. */
export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvdq6tmEClblu2OrW
oOz/JRbCSc8ZRNxBgh4vpUmfBNGhRANCAAQ8gTrF3c3YX1cuTf2qx5UMuFEbacvf
+qzhY/9G30+vq5fgD7IKKdDMGADzjnp4sKADhNJ9f+G4P0xbAoTp1OYW
-----END PRIVATE KEY-----
`
