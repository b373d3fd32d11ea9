public let fieldfareVersion = "0.1.0"
