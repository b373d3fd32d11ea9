#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

// In OpenSSL 3 the older name, EVP_PKEY_base_id, is a macro for this function (EVP_PKEY_get_base_id(3)).
static inline int fieldfare_is_rsa(const EVP_PKEY *key) {
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
}

// Refuses to give a password for a key. Without this, OpenSSL would ask at the terminal (pem_password_cb(3)).
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

// Makes an EC key of the curve P-256. Exists because EVP_PKEY_Q_keygen(3) is variadic.
static inline EVP_PKEY *fieldfare_make_key(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
