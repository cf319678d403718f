"""Operations: backup and restore, health, re-encryption, retention."""
