# Resolves ${domains} by DNS over HTTPS of ${host}; all other names as before.
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
        Add-DnsClientDohServerAddress -ServerAddress $Address -DohTemplate '${dohUrl}' `
            -AllowFallbackToUdp $false -AutoUpgrade $true
    }
    Add-DnsClientNrptRule -Namespace @(${namespaces}) -NameServers $Addresses -Comment $Comment
}
Clear-DnsClientCache
