extension DeliveryTraceTests {
    static let whole = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        save + origin: boot_id 0b0c0d0e-0000-4000-8000-000000000001, started_monotonic_ns 5000000000
             + receipts[1].completed: null
             + receipts[1].revision: null
             + receipts[1].store: tests:home
        - 0 of 8235
        want of 1964
        save + hashes: bytes 1964, file T.wav, modified_ns …, sha256 9b20e303
        put 2026-11-21/T.wav, 1964: 9b20e303, create, counted 1964
          T [047f], 2026-11-21T06:18:11.250000Z, 0.02, heron07
        - 1964 of 8235; 1964 of 8235 to verify
        medium
        save + receipts[1].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
        - 1964 of 8235
        want of 1964
        save + hashes: bytes 1964, file T-raw.wav, modified_ns …, sha256 8d87e03f
        put 2026-11-21/T-raw.wav, 1964: 8d87e03f, create, counted 1964
        - 3928 of 8235; 3928 of 8235 to verify
        medium
        save + receipts[1].files: bytes 1964, file T-raw.wav, mark mark-8d87, sha256 8d87e03f
        - 3928 of 8235
        want of 1964
        save + hashes: bytes 1964, file T-p2.wav, modified_ns …, sha256 576a8e27
        put 2026-11-21/T-p2.wav, 1964: 576a8e27, create, counted 1964
        - 5892 of 8235; 5892 of 8235 to verify
        medium
        save + receipts[1].files: bytes 1964, file T-p2.wav, mark mark-576a, sha256 576a8e27
        - 5892 of 8235
        want of 1964
        save + hashes: bytes 1964, file T-p2-raw.wav, modified_ns …, sha256 98410ad9
        put 2026-11-21/T-p2-raw.wav, 1964: 98410ad9, create, counted 1964
        - 7856 of 8235; 7856 of 8235 to verify
        medium
        save + receipts[1].files: bytes 1964, file T-p2-raw.wav, mark mark-9841, sha256 98410ad9
        - 7856 of 8235
        want of 32
        save + hashes: bytes 32, file T.dat, modified_ns …, sha256 19fa65fb
        save + receipts[1].attempts: bytes 32, file T.dat, sha256 19fa65fb
        put 2026-11-21/T.dat, 32: 19fa65fb, create, counted 32
        - 7888 of 8235; 7888 of 8235 to verify
        medium
        save - receipts[1].attempts: bytes 32, file T.dat, sha256 19fa65fb
             + receipts[1].files: bytes 32, file T.dat, mark mark-19fa, sha256 19fa65fb
        - 7888 of 8235
        want of 7
        save + receipts[1].attempts: bytes 7, file T.txt, sha256 790c37db
        put 2026-11-21/T.txt, 7: 790c37db, create, counted 7
        - 7895 of 8235; 7895 of 8235 to verify
        medium
        save - receipts[1].attempts: bytes 7, file T.txt, sha256 790c37db
             + receipts[1].files: bytes 7, file T.txt, mark mark-790c, sha256 790c37db
        - 7895 of 8235
        want of 13
        save + receipts[1].attempts: bytes 13, file T.other-13f1bee7.txt, sha256 13f1bee7
        put 2026-11-21/T.other-13f1bee7.txt, 13: 13f1bee7, create, counted 13
        - 7908 of 8235; 7908 of 8235 to verify
        medium
        save - receipts[1].attempts: bytes 13, file T.other-13f1bee7.txt, sha256 13f1bee7
             + receipts[1].files: bytes 13, file T.other-13f1bee7.txt, mark mark-13f1, sha256 13f1bee7
        - 7908 of 8235
        want of 327
        save + receipts[1].attempts: bytes 327, file T.notes.json, sha256 10a1c3f7
        put 2026-11-21/T.notes.json, 327: 10a1c3f7, create, counted 327
        - 8235 of 8235; 8235 of 8235 to verify
        medium
        save - receipts[1].attempts: bytes 327, file T.notes.json, sha256 10a1c3f7
             + receipts[1].files: bytes 327, file T.notes.json, mark mark-10a1, sha256 10a1c3f7
        - 8235 of 8235
        want of 2442
        head 2026-11-21/T.json
        save + receipts[1].attempts: bytes 2442, file T.json, sha256 8dd87cef
        put 2026-11-21/T.json, 2442: 8dd87cef, create, counted 2442
        - 10677 of 8235; 10677 of 8235 to verify
        medium
        save - receipts[1].attempts: bytes 2442, file T.json, sha256 8dd87cef
             + receipts[1].files: bytes 2442, file T.json, mark mark-8dd8, sha256 8dd87cef
        - 8235 of 8235
        save - receipts[1].revision: null
             - receipts[1].completed: null
             + home.revision: 1
             + receipts[1].completed: 2026-11-21T06:18:11.250000Z
             + receipts[1].notes_revision: 1
             + receipts[1].revision: 1
        2026-11-21T06:18:11.250000Z, 9 files
        """

    static let memoRemoved = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        get 2026-11-21/T.notes.json
        - 0 of 8224; 1964 of 8224; 3928 of 8224; 5892 of 8224; 7856 of 8224; 7888 of 8224
        want of 13
        - 7901 of 8224
        want of 323
        save + receipts[1].attempts: bytes 323, file T.notes.json, sha256 d7cadc6f
        put 2026-11-21/T.notes.json, 323: d7cadc6f, replacing("10a1c3f7"), counted 323
        - 8224 of 8224; 8224 of 8224 to verify
        medium
        save - receipts[1].files: bytes 327, file T.notes.json, mark mark-10a1, sha256 10a1c3f7
             - receipts[1].attempts: bytes 323, file T.notes.json, sha256 d7cadc6f
             + receipts[1].files: bytes 323, file T.notes.json, mark mark-d7ca, sha256 d7cadc6f
        - 8224 of 8224
        delete 2026-11-21/T.txt
        want of 2442
        - 8224 of 8224
        save - receipts[1].notes_revision: 1
             - receipts[1].files: bytes 7, file T.txt, mark mark-790c, sha256 790c37db
             - receipts[1].completed: null
             - home.revision: 1
             + home.revision: 2
             + receipts[1].completed: 2026-11-21T06:18:11.250000Z
             + receipts[1].notes_revision: 2
        2026-11-21T06:18:11.250000Z, 8 files
        """

    static let nothing = """
        head 2026-11-21/T.json
        medium
        - 0 of 8224; 1964 of 8224; 3928 of 8224; 5892 of 8224; 7856 of 8224; 7888 of 8224
        want of 13
        - 7901 of 8224
        want of 323
        - 8224 of 8224
        want of 2442
        - 8224 of 8224
        save nothing
        2026-11-21T06:18:11.250000Z, 8 files
        """

    static let emptied = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        get 2026-11-21/T.notes.json
        - 0 of 2130; 1964 of 2130
        want of 166
        save + receipts[0].attempts: bytes 166, file T.notes.json, sha256 165d8472
        put 2026-11-21/T.notes.json, 166: 165d8472, replacing("bd7425fa"), counted 166
        - 2130 of 2130; 2130 of 2130 to verify
        medium
        save - receipts[0].files: bytes 170, file T.notes.json, mark mark-bd74, sha256 bd7425fa
             - receipts[0].attempts: bytes 166, file T.notes.json, sha256 165d8472
             + receipts[0].files: bytes 166, file T.notes.json, mark mark-165d, sha256 165d8472
        - 2130 of 2130
        delete 2026-11-21/T.txt
          refused
        want of 0
        save + receipts[0].attempts: bytes 0, file T.txt, sha256 e3b0c442
        put 2026-11-21/T.txt, 0: e3b0c442, replacing("790c37db"), counted 0
        - 2130 of 2130; 2130 of 2130 to verify
        medium
        save - receipts[0].files: bytes 7, file T.txt, mark mark-790c, sha256 790c37db
             - receipts[0].attempts: bytes 0, file T.txt, sha256 e3b0c442
             + receipts[0].files: bytes 0, file T.txt, mark mark-e3b0, sha256 e3b0c442
        - 2130 of 2130
        want of 1552
        - 2130 of 2130
        save - receipts[0].notes_revision: 1
             - receipts[0].completed: null
             - home.revision: 1
             + home.revision: 2
             + receipts[0].completed: 2026-11-21T06:18:11.250000Z
             + receipts[0].notes_revision: 2
        2026-11-21T06:18:11.250000Z, 4 files
        """

    static let unreplaced = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        get 2026-11-21/T.notes.json
        - 0 of 2141; 1964 of 2141
        want of 7
        save + receipts[0].attempts: bytes 7, file T.txt, sha256 44fe8c90
        put 2026-11-21/T.txt, 7: 44fe8c90, replacing("e3b0c442"), counted 7
          refused
        hidden: outbox: tests:home: 2026-11-21/T.txt: refused
        """

    static let answerLost = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        - 0 of 2141; 1964 of 2141
        want of 7
        head 2026-11-21/T.txt
        get 2026-11-21/T.txt
        save + receipts[0].attempts: bytes 7, file T.txt, sha256 44fe8c90
        put 2026-11-21/T.txt, 7: 44fe8c90, replacing("790c37db"), counted 7
        - 1971 of 2141; 1971 of 2141 to verify
        medium
        save - receipts[0].attempts: bytes 7, file T.txt, sha256 44fe8c90
             - receipts[0].attempts: bytes 7, file T.txt, sha256 790c37db
             + receipts[0].files: bytes 7, file T.txt, mark mark-44fe, sha256 44fe8c90
        - 1971 of 2141
        want of 170
        save + receipts[0].attempts: bytes 170, file T.notes.json, sha256 8d3bfaaa
        put 2026-11-21/T.notes.json, 170: 8d3bfaaa, create, counted 170
        - 2141 of 2141; 2141 of 2141 to verify
        medium
        save - receipts[0].attempts: bytes 170, file T.notes.json, sha256 8d3bfaaa
             + receipts[0].files: bytes 170, file T.notes.json, mark mark-8d3b, sha256 8d3bfaaa
        - 2141 of 2141
        want of 1552
        head 2026-11-21/T.json
        save + receipts[0].attempts: bytes 1552, file T.json, sha256 4db253e6
        put 2026-11-21/T.json, 1552: 4db253e6, create, counted 1552
        - 3693 of 2141
          away
        away: outbox: tests:home: 2026-11-21/T.json: away
        """

    static let conflict = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        get 2026-11-21/T.notes.json
        - 0 of 2140; 1964 of 2140
        want of 7
        - 1971 of 2140
        want of 169
        save + receipts[0].attempts: bytes 169, file T.notes.json, sha256 b447bb3d
        put 2026-11-21/T.notes.json, 169: b447bb3d, replacing("8d3bfaaa"), counted 169
          conflict
        save - receipts[0].attempts: bytes 169, file T.notes.json, sha256 b447bb3d
        conflict: outbox: tests:home: 2026-11-21/T.notes.json: conflict
        """

    static let otherMedium = """
        head 2026-11-21/T.json
        medium
        save - receipts[0].stick: stick-1
             - receipts[0].revision: 1
             - receipts[0].files: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
             - receipts[0].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
             - receipts[0].completed: 2026-11-21T06:18:11.250000Z
             + receipts[0].attempts: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
             + receipts[0].attempts: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
             + receipts[0].completed: null
             + receipts[0].revision: null
             + receipts[0].stick: stick-2
             + revision: 1
             + tags: [owl]
        - 0 of 1964
        put 2026-11-21/T.wav, 1964: 9b20e303, confirm
        - 1964 of 1964; 1964 of 1964 to verify
        medium
        save - receipts[0].attempts: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
             + receipts[0].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
        - 1964 of 1964
        want of 1552
        head 2026-11-21/T.json
        head 2026-11-21/T.json
        put 2026-11-21/T.json, 1552: 4db253e6, confirm, counted 1552
        - 3516 of 1964; 3516 of 1964 to verify
        medium
        save - receipts[0].attempts: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
             + receipts[0].files: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
        - 1964 of 1964
        save - receipts[0].revision: null
             + receipts[0].revision: 1
        2026-11-21T06:18:11.250000Z, 2 files
        """

    static let unverified = """
        head 2026-11-21/T.json
          hidden
        medium
        head 2026-11-21/T.notes.json
          hidden
        save + origin: boot_id 0b0c0d0e-0000-4000-8000-000000000001, started_monotonic_ns 5000000000
             + receipts[0].completed: null
             + receipts[0].revision: null
             + receipts[0].store: tests:home
        - 0 of 2129
        want of 1964
        save + hashes: bytes 1964, file T.wav, modified_ns …, sha256 9b20e303
        put 2026-11-21/T.wav, 1964: 9b20e303, create, counted 1964
          T [], 2026-11-21T06:18:11.250000Z, 0.01, heron07
        - 1964 of 2129; 1964 of 2129 to verify
        medium
        save + receipts[0].files: bytes 1964, file T.wav, sha256 9b20e303
             + receipts[0].unverified.files: [T.wav]
             + receipts[0].unverified.why: outbox: nothing is shown
        - 1964 of 2129
        want of 165
        save + receipts[0].attempts: bytes 165, file T.notes.json, sha256 4cd2d0f3
        put 2026-11-21/T.notes.json, 165: 4cd2d0f3, create, counted 165
        - 2129 of 2129; 2129 of 2129 to verify
        medium
        save - receipts[0].unverified.files: [T.wav]
             - receipts[0].attempts: bytes 165, file T.notes.json, sha256 4cd2d0f3
             + receipts[0].files: bytes 165, file T.notes.json, sha256 4cd2d0f3
             + receipts[0].unverified.files: [T.wav, T.notes.json]
        - 2129 of 2129
        want of 1552
        head 2026-11-21/T.json
          hidden
        save + receipts[0].attempts: bytes 1552, file T.json, sha256 4db253e6
        put 2026-11-21/T.json, 1552: 4db253e6, create, counted 1552
        - 3681 of 2129; 3681 of 2129 to verify
        medium
        save - receipts[0].unverified.files: [T.wav, T.notes.json]
             - receipts[0].attempts: bytes 1552, file T.json, sha256 4db253e6
             + receipts[0].files: bytes 1552, file T.json, sha256 4db253e6
             + receipts[0].unverified.files: [T.wav, T.notes.json, T.json]
        - 2129 of 2129
        save - receipts[0].revision: null
             + home.revision: 1
             + receipts[0].notes_revision: 1
             + receipts[0].revision: 1
             + receipts[0].unverified.sent: 2026-11-21T06:18:11.250000Z
        -, 3 files
        """

    static let unverifiedAgain = """
        head 2026-11-21/T.json
          hidden
        medium
        - 0 of 2129
        head 2026-11-21/T.wav
          hidden
        - 1964 of 2129
        want of 165
        head 2026-11-21/T.notes.json
          hidden
        - 2129 of 2129
        want of 1552
        head 2026-11-21/T.json
          hidden
        - 2129 of 2129
        save nothing
        -, 3 files
        """

    static let verified = """
        head 2026-11-21/T.json
        medium
        - 0 of 2129
        head 2026-11-21/T.wav
        put 2026-11-21/T.wav, 1964: 9b20e303, confirm
        - 1964 of 2129; 1964 of 2129 to verify
        medium
        save - receipts[0].unverified.files: [T.wav, T.notes.json, T.json]
             - receipts[0].files: bytes 1964, file T.wav, sha256 9b20e303
             + receipts[0].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
             + receipts[0].unverified.files: [T.notes.json, T.json]
        - 1964 of 2129
        want of 165
        head 2026-11-21/T.notes.json
        put 2026-11-21/T.notes.json, 165: 4cd2d0f3, replacing("4cd2d0f3"), counted 165
        - 2129 of 2129; 2129 of 2129 to verify
        medium
        save - receipts[0].unverified.files: [T.notes.json, T.json]
             - receipts[0].files: bytes 165, file T.notes.json, sha256 4cd2d0f3
             + receipts[0].files: bytes 165, file T.notes.json, mark mark-4cd2, sha256 4cd2d0f3
             + receipts[0].unverified.files: [T.json]
        - 2129 of 2129
        want of 1552
        head 2026-11-21/T.json
        put 2026-11-21/T.json, 1552: 4db253e6, replacing("4db253e6"), counted 1552
        - 3681 of 2129; 3681 of 2129 to verify
        medium
        save - receipts[0].unverified.why: outbox: nothing is shown
             - receipts[0].unverified.sent: 2026-11-21T06:18:11.250000Z
             - receipts[0].unverified.files: [T.json]
             - receipts[0].files: bytes 1552, file T.json, sha256 4db253e6
             + receipts[0].files: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
        - 2129 of 2129
        save - receipts[0].completed: null
             + receipts[0].completed: 2026-11-21T06:18:11.250000Z
        2026-11-21T06:18:11.250000Z, 3 files
        """

    static let rebuilt = """
        head 2026-11-21/T.json
        medium
        head 2026-11-21/T.notes.json
        get 2026-11-21/T.notes.json
        save - revision: 1
             - memo: null
             + home.revision: 1
             + home.taken: [bd7425fa]
             + memo: a wren
             + origin: boot_id , started_monotonic_ns 0
             + revision: 2
        save + receipts[0].completed: null
             + receipts[0].revision: null
             + receipts[0].store: tests:home
        - 0 of 2140
        want of 1964
        save + hashes: bytes 1964, file T.wav, modified_ns …, sha256 9b20e303
        put 2026-11-21/T.wav, 1964: 9b20e303, create, counted 1964
        - 1964 of 2140; 1964 of 2140 to verify
        medium
        save + receipts[0].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
        - 1964 of 2140
        want of 7
        save + receipts[0].attempts: bytes 7, file T.txt, sha256 790c37db
        put 2026-11-21/T.txt, 7: 790c37db, replacing("790c37db"), counted 7
        - 1971 of 2140; 1971 of 2140 to verify
        medium
        save - receipts[0].attempts: bytes 7, file T.txt, sha256 790c37db
             + receipts[0].files: bytes 7, file T.txt, mark mark-790c, sha256 790c37db
        - 1971 of 2140
        want of 169
        save + receipts[0].attempts: bytes 169, file T.notes.json, sha256 675ebc3c
        put 2026-11-21/T.notes.json, 169: 675ebc3c, replacing("bd7425fa"), counted 169
        - 2140 of 2140; 2140 of 2140 to verify
        medium
        save - receipts[0].attempts: bytes 169, file T.notes.json, sha256 675ebc3c
             + receipts[0].files: bytes 169, file T.notes.json, mark mark-675e, sha256 675ebc3c
        - 2140 of 2140
        head 2026-11-21/T.json
        get 2026-11-21/T.json
        want of 1551
        head 2026-11-21/T.json
        get 2026-11-21/T.json
        save + receipts[0].attempts: bytes 1551, file T.json, sha256 76b0c061
        put 2026-11-21/T.json, 1551: 76b0c061, replacing("4db253e6"), counted 1551
        - 3691 of 2140; 3691 of 2140 to verify
        medium
        save - receipts[0].attempts: bytes 1551, file T.json, sha256 76b0c061
             + receipts[0].files: bytes 1551, file T.json, mark mark-76b0, sha256 76b0c061
        - 2140 of 2140
        save - receipts[0].revision: null
             - receipts[0].completed: null
             - home.revision: 1
             + home.revision: 2
             + receipts[0].completed: 2026-11-21T06:18:11.250000Z
             + receipts[0].notes_revision: 2
             + receipts[0].revision: 1
        2026-11-21T06:18:11.250000Z, 4 files
        """

    static let repaired = """
        head 2026-11-21/T.json
        medium
        - 0 of 1964
        head 2026-11-21/T.json
        get 2026-11-21/T.json
        put 2026-11-21/T.wav, 1964: 9b20e303, replacing("d8514f8a")
        - 1964 of 1964; 1964 of 1964 to verify
        medium
        save - receipts[0].files: bytes 1964, file T.wav, mark mark-d851, sha256 d8514f8a
             + receipts[0].files: bytes 1964, file T.wav, mark mark-9b20, sha256 9b20e303
        - 1964 of 1964
        want of 1552
        save + receipts[0].attempts: bytes 1552, file T.json, sha256 4db253e6
        put 2026-11-21/T.json, 1552: 4db253e6, replacing("071df417"), counted 1552
        - 3516 of 1964; 3516 of 1964 to verify
        medium
        save - receipts[0].files: bytes 1646, file T.json, mark mark-071d, sha256 071df417
             - receipts[0].attempts: bytes 1552, file T.json, sha256 4db253e6
             + receipts[0].files: bytes 1552, file T.json, mark mark-4db2, sha256 4db253e6
        - 1964 of 1964
        save nothing
        2026-11-21T06:18:11.250000Z, 2 files
        """
}
