// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Movable {
    function move(address from, address to, uint256 value) external;

    function mint(address to, uint256 value) external;
}

/// One side of a bridge: locks a coin, or mints another, and says so with the message's number.
contract Side {
    event Sent(uint256 indexed id, address by, uint256 amount);
    event Delivered(uint256 indexed id, address to, uint256 amount);

    Movable private coin;
    bool public paused;

    constructor(address token) {
        coin = Movable(token);
    }

    function pause(bool flag) external {
        paused = flag;
    }

    function lock(uint256 id, address by, uint256 amount) public {
        coin.move(by, address(this), amount);
        emit Sent(id, by, amount);
    }

    function deliver(uint256 id, address to, uint256 amount) public {
        coin.mint(to, amount);
        emit Delivered(id, to, amount);
    }

    function lockMany(uint256 first, uint256 count, address by, uint256 amount) external {
        for (uint256 id = first; id < first + count; id++) lock(id, by, amount);
    }

    function deliverMany(uint256 first, uint256 count, address to, uint256 amount) external {
        for (uint256 id = first; id < first + count; id++) deliver(id, to, amount);
    }
}

/// A side that cannot be paused, and numbers its messages without an index.
contract Plainer {
    event Sent(bytes32 id, uint256 amount);

    function send(bytes32 id, uint256 amount) external {
        emit Sent(id, amount);
    }
}
