"""What all embedding endpoints share: addresses, keys, requests, retries and checks."""
