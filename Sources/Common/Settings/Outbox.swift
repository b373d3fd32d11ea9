extension Settings {
    /// Where takes are uploaded to, and when.
    public struct Outbox: Hashable, Sendable {
        /// The places; every take is sent to each of them.
        public var stores = [Store.automatic]
        /// A file of certificates (PEM) that are trusted beside the system's; an absolute path; nil: none.
        public var authorities: String?
        /// When a take may be deleted from the kit.
        public var keepLocal = KeepLocal.untilNeeded
        /// The hours in which takes are uploaded.
        public var window = UploadWindow.always
        /// Thousands of bits a second; 0: no limit.
        public var limitKbitPerSecond = 0
        /// What is wrong with what the file says of a kind of place: its settings may not be those that were meant.
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

        /// The kinds of places.
        public enum Store: String, CaseIterable, Sendable {
            /// A USB stick with a folder named `fieldfare`.
            case automatic = "auto"
            case nowhere = "none"
            case s3, firebase, webdav, sftp, folder, rclone
        }

        /// The name of the store that is whichever stick is plugged in.
        public static let stickStore = "stick"

        /// When a take may be deleted from the kit.
        public enum KeepLocal: String, CaseIterable, Sendable {
            /// Once it is uploaded and space is short.
            case untilNeeded = "until-needed"
            case always
            /// Once it is uploaded.
            case untilUploaded = "until-uploaded"
        }

        /// A bucket of a service with the S3 protocol.
        public struct S3: Hashable, Sendable {
            /// The service's URL; nil: Amazon's own for the region.
            public var endpoint: String?
            /// What the requests are signed for.
            public var region = "us-east-1"
            /// Must be given when this is the store.
            public var bucket: String?
            /// What every object's key begins with.
            public var prefix = ""
            /// An absolute path.
            public var credentialsFile = "/etc/fieldfare/s3.credentials"
        }

        /// A bucket of Firebase or Google Cloud Storage.
        public struct Firebase: Hashable, Sendable {
            /// Must be given when this is the store.
            public var bucket: String?
            /// What every object's name begins with.
            public var prefix = ""
            /// An absolute path.
            public var serviceAccountFile = "/etc/fieldfare/service-account.json"
            /// The service's URL.
            public var endpoint = "https://storage.googleapis.com"
        }

        /// A folder on a WebDAV server.
        public struct WebDAV: Hashable, Sendable {
            /// Must be given when this is the store.
            public var url: String?
            /// An absolute path.
            public var credentialsFile = "/etc/fieldfare/webdav.credentials"
        }

        /// A folder on an SSH server with SFTP.
        public struct SFTP: Hashable, Sendable {
            /// `sftp://USER@HOST:PORT/PATH`; must be given when this is the store.
            public var url: String?
            /// The private key; an absolute path.
            public var keyFile = "/etc/fieldfare/sftp.key"
            /// The server's host keys; an absolute path.
            public var knownHostsFile = "/etc/fieldfare/sftp.known_hosts"
        }

        /// A folder of this machine.
        public struct Folder: Hashable, Sendable {
            /// An absolute path; must be given when this is the store.
            public var path: String?
        }

        /// A remote of rclone.
        public struct Rclone: Hashable, Sendable {
            /// `REMOTE:PATH`; must be given when this is the store.
            public var remote: String?
            /// An absolute path.
            public var config = "/etc/fieldfare/rclone.conf"
        }
    }
}
