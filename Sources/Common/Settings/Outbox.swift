extension Settings {
    /// The stores for takes, and when to upload.
    public struct Outbox: Hashable, Sendable {
        /// Every take is sent to each of them.
        public var stores = [Store.automatic]
        /// The absolute path of a PEM file with certificates that are trusted in addition to the system's, or nil.
        public var authorities: String?
        public var keepLocal = KeepLocal.untilNeeded
        public var window = UploadWindow.always
        /// In units of 1000 bits; 0 means no limit.
        public var limitKbitPerSecond = 0
        /// For each kind of store, the problem with its part of the file. Its settings may differ from the intended
        /// ones.
        public internal(set) var unclear: [Store: String] = [:]
        /// `[outbox.s3]`
        public var s3 = S3()
        /// `[outbox.firebase]`
        public var firebase = Firebase()
        /// `[outbox.webdav]`
        public var webdav = WebDAV()
        /// `[outbox.sftp]`
        public var sftp = SFTP()
        /// `[outbox.folder]`
        public var folder = Folder()
        /// `[outbox.rclone]`
        public var rclone = Rclone()

        public enum Store: String, CaseIterable, Sendable {
            /// A USB stick with a folder named `fieldfare`.
            case automatic = "auto"
            case nowhere = "none"
            case s3, firebase, webdav, sftp, folder, rclone
        }

        /// The store name of every stick.
        public static let stickStore = "stick"

        public enum KeepLocal: String, CaseIterable, Sendable {
            /// Once it is uploaded and space is short.
            case untilNeeded = "until-needed"
            case always
            /// Once it is uploaded.
            case untilUploaded = "until-uploaded"
        }

        public struct S3: Hashable, Sendable {
            /// The service's URL, or nil for Amazon's URL of the region.
            public var endpoint: String?
            /// The region in the requests' signatures.
            public var region = "us-east-1"
            /// Required for this store.
            public var bucket: String?
            /// The prefix of every object's key.
            public var prefix = ""
            /// An absolute path.
            public var credentialsFile = "/etc/fieldfare/s3.credentials"
        }

        public struct Firebase: Hashable, Sendable {
            /// Required for this store.
            public var bucket: String?
            /// The prefix of every object's name.
            public var prefix = ""
            /// An absolute path.
            public var serviceAccountFile = "/etc/fieldfare/service-account.json"
            public var endpoint = "https://storage.googleapis.com"
        }

        public struct WebDAV: Hashable, Sendable {
            /// Required for this store.
            public var url: String?
            /// An absolute path.
            public var credentialsFile = "/etc/fieldfare/webdav.credentials"
        }

        public struct SFTP: Hashable, Sendable {
            /// `sftp://USER@HOST:PORT/PATH`. Required for this store.
            public var url: String?
            /// The absolute path of the private key.
            public var keyFile = "/etc/fieldfare/sftp.key"
            /// The absolute path of the server's host keys.
            public var knownHostsFile = "/etc/fieldfare/sftp.known_hosts"
        }

        public struct Folder: Hashable, Sendable {
            /// An absolute path. Required for this store.
            public var path: String?
        }

        public struct Rclone: Hashable, Sendable {
            /// `REMOTE:PATH`. Required for this store.
            public var remote: String?
            /// An absolute path.
            public var config = "/etc/fieldfare/rclone.conf"
        }
    }
}
