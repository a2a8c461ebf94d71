"""What all embedding endpoints share: addresses, keys, prices, requests, retries and checks."""
