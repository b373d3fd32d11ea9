#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

// A macro of OpenSSL 3, and a function of one name since (EVP_PKEY_get_base_id(3)).
static inline int fieldfare_is_rsa(const EVP_PKEY *key) {
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
}

// For a key without a password: whoever asks for one gets none, where OpenSSL would ask at the terminal (pem_password_cb(3)).
static inline int fieldfare_no_password(char *buffer, int size, int writes, void *context) {
    return -1;
}

static inline EVP_PKEY *fieldfare_read_key(const void *text, int count) {
    BIO *source = BIO_new_mem_buf(text, count);
    if (!source) return NULL;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(source, NULL, fieldfare_no_password, NULL);
    BIO_free(source);
    return key;
}

// Variadic (EVP_PKEY_Q_keygen(3)): an EC key of the curve P-256.
static inline EVP_PKEY *fieldfare_make_key(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
